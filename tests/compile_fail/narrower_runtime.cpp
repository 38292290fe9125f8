// expect: bailey: narrower_than compares policies without values of their own
#include <bailey/policy/narrower.hpp>
#include <bailey/policy/runtime.hpp>

#ifdef TWIN
using Narrow = bailey::DomainAllowlist<"a.example">;
#else
using Narrow = bailey::runtime::DomainAllowlist;
#endif
inline constexpr bool proved = bailey::narrower_than<Narrow, bailey::DomainAllowlist<"*.example.com", "a.example">>;
