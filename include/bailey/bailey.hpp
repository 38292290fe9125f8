// bailey: run any command of an agent in a workspace that the kernel bounds. The one file a user needs.
#pragma once

#include <bailey/base/platform.hpp>
#include <bailey/base/fixed_string.hpp>
#include <bailey/base/format.hpp>
#include <bailey/base/error.hpp>
#include <bailey/base/violation.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/permits.hpp>
#include <bailey/boundary/compare.hpp>
#include <bailey/boundary/intersect.hpp>
#include <bailey/policy/concept.hpp>
#include <bailey/policy/network.hpp>
#include <bailey/policy/filesystem.hpp>
#include <bailey/policy/weakenings.hpp>
#include <bailey/policy/environment.hpp>
#include <bailey/policy/limits.hpp>
#include <bailey/policy/bundle.hpp>
#include <bailey/policy/narrower.hpp>
#include <bailey/policy/runtime.hpp>
#include <bailey/run.hpp>
#include <bailey/running.hpp>
#include <bailey/commands.hpp>
#include <bailey/session.hpp>
#include <bailey/violations.hpp>
#include <bailey/workspace.hpp>
#include <bailey/doctor.hpp>
