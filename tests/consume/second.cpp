// A second translation unit, which includes bailey twice.
#include <bailey/bailey.hpp>
#include <bailey/bailey.hpp>

#include <string>

std::string explained();

std::string explained() {
    const auto workspace = bailey::Workspace<bailey::ReadOnly>::open("/tmp");
    return workspace ? workspace->explain() : workspace.error().what();
}
