// A secret has a word of its own.
// expect: bailey: this name looks like a credential; .* EnvCredential
// names: refused_variable<EnvFault::credential, at<0>, text<'G', 'H', '_', 'T', 'O', 'K', 'E', 'N'>>
#include <bailey/policy/environment.hpp>

#if defined(TWIN)
inline constexpr bailey::EnvAllowlist<"MAX_TOKENS"> policy{};
#else
inline constexpr bailey::EnvAllowlist<"GH_TOKEN"> policy{};
#endif
