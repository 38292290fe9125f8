// srt does not know address ranges.
// expect: bailey: a domain is no address range
// names: refused_domain<DomainFault::address_range, at<8>, text<'1', '0', '.', '0', '.', '0', '.', '0', '/', '8'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"10.0.0.0"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"10.0.0.0/8"> policy{};
#endif
