// The paths that every workspace has, as they are on this machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/resolve.hpp>

namespace bailey {

struct Places {
    std::string tmp;
    std::vector<std::string> system;  ///< those that exist
};

/// Links followed: /bin is often /usr/bin.
[[nodiscard]] inline Places places_here() {
    Places places{real_tmp(), {}};
    for (const auto system : defaults::system_paths)
        if (auto path = paths::real(std::string{system})) places.system.push_back(std::move(*path));
    return places;
}

}  // namespace bailey
