// Anyone gets a name under a public suffix.
// expect: bailey: anyone can get a name under this suffix
// names: refused_domain<DomainFault::public_suffix, at<2>, text<'*', '.', 'c', 'o', '.', 'u', 'k'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"*.example.co.uk"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"*.co.uk"> policy{};
#endif
