// The secrets below the system paths that exist on this machine: what settings hide although /etc is readable.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dirent.h>

#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/paths.hpp>

namespace bailey::settings {

[[nodiscard]] inline std::vector<std::string> existing_system_secrets() {
    std::vector<std::string> found;
    for (const auto secret : defaults::system_secrets) {
        if (!secret.ends_with('*')) {
            if (std::string path{secret}; paths::exists(path)) found.push_back(std::move(path));
            continue;
        }
        const std::string directory{paths::parent(secret)};
        const auto beginning = secret.substr(directory.size() + 1, secret.size() - directory.size() - 2);
        const std::unique_ptr<DIR, int (*)(DIR*)> open{::opendir(directory.c_str()), ::closedir};
        while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) {
            const std::string_view name{entry->d_name};
            if (name.starts_with(beginning) && !name.ends_with(".pub")) found.push_back(paths::join(directory, name));
        }
    }
    return found;
}

}  // namespace bailey::settings
