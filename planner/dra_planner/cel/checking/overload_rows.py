"""The rows of the table of overloads. `overloads` describes their format, and when they are
declared.
"""

from typing import Final

STANDARD: Final = """
conditional _?_:_(bool, A, A) A
logical_and _&&_(bool, bool) bool
logical_or _||_(bool, bool) bool
logical_not !_(bool) bool
not_strictly_false @not_strictly_false(bool) bool
equals _==_(A, A) bool
not_equals _!=_(A, A) bool
add_bytes _+_(bytes, bytes) bytes
add_double _+_(double, double) double
add_duration_duration _+_(duration, duration) duration
add_duration_timestamp _+_(duration, timestamp) timestamp
add_timestamp_duration _+_(timestamp, duration) timestamp
add_int64 _+_(int, int) int
add_list _+_(list(A), list(A)) list(A)
add_string _+_(string, string) string
add_uint64 _+_(uint, uint) uint
divide_double _/_(double, double) double
divide_int64 _/_(int, int) int
divide_uint64 _/_(uint, uint) uint
modulo_int64 _%_(int, int) int
modulo_uint64 _%_(uint, uint) uint
multiply_double _*_(double, double) double
multiply_int64 _*_(int, int) int
multiply_uint64 _*_(uint, uint) uint
negate_double -_(double) double
negate_int64 -_(int) int
subtract_double _-_(double, double) double
subtract_duration_duration _-_(duration, duration) duration
subtract_int64 _-_(int, int) int
subtract_timestamp_duration _-_(timestamp, duration) timestamp
subtract_timestamp_timestamp _-_(timestamp, timestamp) duration
subtract_uint64 _-_(uint, uint) uint
less_bool _<_(bool, bool) bool
less_int64 _<_(int, int) bool
less_int64_double _<_(int, double) bool
less_int64_uint64 _<_(int, uint) bool
less_uint64 _<_(uint, uint) bool
less_uint64_double _<_(uint, double) bool
less_uint64_int64 _<_(uint, int) bool
less_double _<_(double, double) bool
less_double_int64 _<_(double, int) bool
less_double_uint64 _<_(double, uint) bool
less_string _<_(string, string) bool
less_bytes _<_(bytes, bytes) bool
less_timestamp _<_(timestamp, timestamp) bool
less_duration _<_(duration, duration) bool
less_equals_bool _<=_(bool, bool) bool
less_equals_int64 _<=_(int, int) bool
less_equals_int64_double _<=_(int, double) bool
less_equals_int64_uint64 _<=_(int, uint) bool
less_equals_uint64 _<=_(uint, uint) bool
less_equals_uint64_double _<=_(uint, double) bool
less_equals_uint64_int64 _<=_(uint, int) bool
less_equals_double _<=_(double, double) bool
less_equals_double_int64 _<=_(double, int) bool
less_equals_double_uint64 _<=_(double, uint) bool
less_equals_string _<=_(string, string) bool
less_equals_bytes _<=_(bytes, bytes) bool
less_equals_timestamp _<=_(timestamp, timestamp) bool
less_equals_duration _<=_(duration, duration) bool
greater_bool _>_(bool, bool) bool
greater_int64 _>_(int, int) bool
greater_int64_double _>_(int, double) bool
greater_int64_uint64 _>_(int, uint) bool
greater_uint64 _>_(uint, uint) bool
greater_uint64_double _>_(uint, double) bool
greater_uint64_int64 _>_(uint, int) bool
greater_double _>_(double, double) bool
greater_double_int64 _>_(double, int) bool
greater_double_uint64 _>_(double, uint) bool
greater_string _>_(string, string) bool
greater_bytes _>_(bytes, bytes) bool
greater_timestamp _>_(timestamp, timestamp) bool
greater_duration _>_(duration, duration) bool
greater_equals_bool _>=_(bool, bool) bool
greater_equals_int64 _>=_(int, int) bool
greater_equals_int64_double _>=_(int, double) bool
greater_equals_int64_uint64 _>=_(int, uint) bool
greater_equals_uint64 _>=_(uint, uint) bool
greater_equals_uint64_double _>=_(uint, double) bool
greater_equals_uint64_int64 _>=_(uint, int) bool
greater_equals_double _>=_(double, double) bool
greater_equals_double_int64 _>=_(double, int) bool
greater_equals_double_uint64 _>=_(double, uint) bool
greater_equals_string _>=_(string, string) bool
greater_equals_bytes _>=_(bytes, bytes) bool
greater_equals_timestamp _>=_(timestamp, timestamp) bool
greater_equals_duration _>=_(duration, duration) bool
index_list _[_](list(A), int) A
index_map _[_](map(A, B), A) B
in_list @in(A, list(A)) bool
in_map @in(A, map(A, B)) bool
size_bytes size(bytes) int
bytes_size (bytes).size() int
size_list size(list(A)) int
list_size (list(A)).size() int
size_map size(map(A, B)) int
map_size (map(A, B)).size() int
size_string size(string) int
string_size (string).size() int
type type(A) type(A)
bool_to_bool bool(bool) bool
string_to_bool bool(string) bool
bytes_to_bytes bytes(bytes) bytes
string_to_bytes bytes(string) bytes
double_to_double double(double) double
int64_to_double double(int) double
string_to_double double(string) double
uint64_to_double double(uint) double
duration_to_duration duration(duration) duration
string_to_duration duration(string) duration
int64_to_int64 int(int) int
double_to_int64 int(double) int
duration_to_int64 int(duration) int
string_to_int64 int(string) int
timestamp_to_int64 int(timestamp) int
uint64_to_int64 int(uint) int
string_to_string string(string) string
bool_to_string string(bool) string
bytes_to_string string(bytes) string
double_to_string string(double) string
duration_to_string string(duration) string
int64_to_string string(int) string
timestamp_to_string string(timestamp) string
uint64_to_string string(uint) string
timestamp_to_timestamp timestamp(timestamp) timestamp
int64_to_timestamp timestamp(int) timestamp
string_to_timestamp timestamp(string) timestamp
uint64_to_uint64 uint(uint) uint
double_to_uint64 uint(double) uint
int64_to_uint64 uint(int) uint
string_to_uint64 uint(string) uint
to_dyn dyn(A) dyn
contains_string (string).contains(string) bool
ends_with_string (string).endsWith(string) bool
starts_with_string (string).startsWith(string) bool
matches matches(string, string) bool
matches_string (string).matches(string) bool
timestamp_to_year (timestamp).getFullYear() int
timestamp_to_year_with_tz (timestamp).getFullYear(string) int
timestamp_to_month (timestamp).getMonth() int
timestamp_to_month_with_tz (timestamp).getMonth(string) int
timestamp_to_day_of_year (timestamp).getDayOfYear() int
timestamp_to_day_of_year_with_tz (timestamp).getDayOfYear(string) int
timestamp_to_day_of_month (timestamp).getDayOfMonth() int
timestamp_to_day_of_month_with_tz (timestamp).getDayOfMonth(string) int
timestamp_to_day_of_month_1_based (timestamp).getDate() int
timestamp_to_day_of_month_1_based_with_tz (timestamp).getDate(string) int
timestamp_to_day_of_week (timestamp).getDayOfWeek() int
timestamp_to_day_of_week_with_tz (timestamp).getDayOfWeek(string) int
timestamp_to_hours (timestamp).getHours() int
timestamp_to_hours_with_tz (timestamp).getHours(string) int
duration_to_hours (duration).getHours() int
timestamp_to_minutes (timestamp).getMinutes() int
timestamp_to_minutes_with_tz (timestamp).getMinutes(string) int
duration_to_minutes (duration).getMinutes() int
timestamp_to_seconds (timestamp).getSeconds() int
timestamp_to_seconds_with_tz (timestamp).getSeconds(string) int
duration_to_seconds (duration).getSeconds() int
timestamp_to_milliseconds (timestamp).getMilliseconds() int
timestamp_to_milliseconds_with_tz (timestamp).getMilliseconds(string) int
duration_to_milliseconds (duration).getMilliseconds() int
"""

INT_DURATIONS: Final = """
int64_to_duration duration(int) duration
"""

URLS: Final = """
string_to_url url(string) url
url_get_scheme (url).getScheme() string
url_get_host (url).getHost() string
url_get_hostname (url).getHostname() string
url_get_port (url).getPort() string
url_get_escaped_path (url).getEscapedPath() string
url_get_query (url).getQuery() map(string, list(string))
is_url_string isURL(string) bool
"""

REGEX: Final = """
string_find_string (string).find(string) string
string_find_all_string (string).findAll(string) list(string)
string_find_all_string_int (string).findAll(string, int) list(string)
"""

LISTS: Final = """
list_int_is_sorted_bool (list(int)).isSorted() bool
list_uint_is_sorted_bool (list(uint)).isSorted() bool
list_double_is_sorted_bool (list(double)).isSorted() bool
list_bool_is_sorted_bool (list(bool)).isSorted() bool
list_duration_is_sorted_bool (list(duration)).isSorted() bool
list_timestamp_is_sorted_bool (list(timestamp)).isSorted() bool
list_string_is_sorted_bool (list(string)).isSorted() bool
list_bytes_is_sorted_bool (list(bytes)).isSorted() bool
list_int_sum_int (list(int)).sum() int
list_uint_sum_uint (list(uint)).sum() uint
list_double_sum_double (list(double)).sum() double
list_duration_sum_duration (list(duration)).sum() duration
list_int_max_int (list(int)).max() int
list_uint_max_uint (list(uint)).max() uint
list_double_max_double (list(double)).max() double
list_bool_max_bool (list(bool)).max() bool
list_duration_max_duration (list(duration)).max() duration
list_timestamp_max_timestamp (list(timestamp)).max() timestamp
list_string_max_string (list(string)).max() string
list_bytes_max_bytes (list(bytes)).max() bytes
list_int_min_int (list(int)).min() int
list_uint_min_uint (list(uint)).min() uint
list_double_min_double (list(double)).min() double
list_bool_min_bool (list(bool)).min() bool
list_duration_min_duration (list(duration)).min() duration
list_timestamp_min_timestamp (list(timestamp)).min() timestamp
list_string_min_string (list(string)).min() string
list_bytes_min_bytes (list(bytes)).min() bytes
list_a_index_of_int (list(A)).indexOf(A) int
list_a_last_index_of_int (list(A)).lastIndexOf(A) int
"""

AUTHORIZER: Final = """
authorizer_path (authorizer).path(string) pathcheck
authorizer_group (authorizer).group(string) groupcheck
authorizer_serviceaccount (authorizer).serviceAccount(string, string) authorizer
groupcheck_resource (groupcheck).resource(string) resourcecheck
resourcecheck_subresource (resourcecheck).subresource(string) resourcecheck
resourcecheck_namespace (resourcecheck).namespace(string) resourcecheck
resourcecheck_name (resourcecheck).name(string) resourcecheck
pathcheck_check (pathcheck).check(string) decision
resourcecheck_check (resourcecheck).check(string) decision
decision_errored (decision).errored() bool
decision_error (decision).error() string
decision_allowed (decision).allowed() bool
decision_reason (decision).reason() string
authorizer_fieldselector (resourcecheck).fieldSelector(string) resourcecheck
authorizer_labelselector (resourcecheck).labelSelector(string) resourcecheck
"""

OPTIONALS: Final = """
optional_of optional.of(V) optional(V)
optional_ofNonZeroValue optional.ofNonZeroValue(V) optional(V)
optional_none optional.none() optional(V)
optional_value (optional(V)).value() V
optional_hasValue (optional(V)).hasValue() bool
optional_or_optional (optional(V)).or(optional(V)) optional(V)
optional_orValue_value (optional(V)).orValue(V) V
select_optional_field _?._(dyn, string) optional(V)
list_optindex_optional_int _[?_](list(V), int) optional(V)
optional_list_optindex_optional_int _[?_](optional(list(V)), int) optional(V)
map_optindex_optional_value _[?_](map(K, V), K) optional(V)
optional_map_optindex_optional_value _[?_](optional(map(K, V)), K) optional(V)
optional_list_index_int _[_](optional(list(V)), int) optional(V)
optional_map_index_value _[_](optional(map(K, V)), K) optional(V)
list_last (list(V)).last() optional(V)
list_first (list(V)).first() optional(V)
optional_unwrap optional.unwrap(list(optional(V))) list(V)
optional_unwrapOpt (list(optional(V))).unwrapOpt() list(V)
"""

QUANTITIES: Final = """
string_to_quantity quantity(string) quantity
is_quantity_string isQuantity(string) bool
quantity_sign sign(quantity) int
quantity_is_greater_than (quantity).isGreaterThan(quantity) bool
quantity_is_less_than (quantity).isLessThan(quantity) bool
quantity_compare_to (quantity).compareTo(quantity) int
quantity_get_float (quantity).asApproximateFloat() double
quantity_get_int (quantity).asInteger() int
quantity_is_integer (quantity).isInteger() bool
quantity_add (quantity).add(quantity) quantity
quantity_add_int (quantity).add(int) quantity
quantity_sub (quantity).sub(quantity) quantity
quantity_sub_int (quantity).sub(int) quantity
"""

STRINGS: Final = """
string_char_at_int (string).charAt(int) string
string_index_of_string (string).indexOf(string) int
string_index_of_string_int (string).indexOf(string, int) int
string_last_index_of_string (string).lastIndexOf(string) int
string_last_index_of_string_int (string).lastIndexOf(string, int) int
string_lower_ascii (string).lowerAscii() string
string_replace_string_string (string).replace(string, string) string
string_replace_string_string_int (string).replace(string, string, int) string
string_split_string (string).split(string) list(string)
string_split_string_int (string).split(string, int) list(string)
string_substring_int (string).substring(int) string
string_substring_int_int (string).substring(int, int) string
string_trim (string).trim() string
string_upper_ascii (string).upperAscii() string
string_format (string).format(list(dyn)) string
strings_quote strings.quote(string) string
list_join (list(string)).join() string
list_join_string (list(string)).join(string) string
"""

SETS: Final = """
list_sets_contains_list sets.contains(list(T), list(T)) bool
list_sets_equivalent_list sets.equivalent(list(T), list(T)) bool
list_sets_intersects_list sets.intersects(list(T), list(T)) bool
"""

IPS: Final = """
string_to_ip ip(string) ip
ip_family (ip).family() int
ip_is_canonical ip.isCanonical(string) bool
ip_is_unspecified (ip).isUnspecified() bool
ip_is_loopback (ip).isLoopback() bool
ip_is_link_local_multicast (ip).isLinkLocalMulticast() bool
ip_is_link_local_unicast (ip).isLinkLocalUnicast() bool
ip_is_global_unicast (ip).isGlobalUnicast() bool
is_ip isIP(string) bool
ip_to_string string(ip) string
"""

CIDRS: Final = """
string_to_cidr cidr(string) cidr
cidr_contains_ip_string (cidr).containsIP(string) bool
cidr_contains_ip_ip (cidr).containsIP(ip) bool
cidr_contains_cidr_string (cidr).containsCIDR(string) bool
cidr_contains_cidr (cidr).containsCIDR(cidr) bool
cidr_ip (cidr).ip() ip
cidr_prefix_length (cidr).prefixLength() int
cidr_masked (cidr).masked() cidr
is_cidr isCIDR(string) bool
cidr_to_string string(cidr) string
"""

FORMATS: Final = """
format-validate (format).validate(string) optional(list(string))
format-named format.named(string) optional(format)
format.dns1123Label format.dns1123Label() format
format.dns1123Subdomain format.dns1123Subdomain() format
format.dns1035Label format.dns1035Label() format
format.qualifiedName format.qualifiedName() format
format.dns1123LabelPrefix format.dns1123LabelPrefix() format
format.dns1123SubdomainPrefix format.dns1123SubdomainPrefix() format
format.dns1035LabelPrefix format.dns1035LabelPrefix() format
format.labelValue format.labelValue() format
format.uri format.uri() format
format.uuid format.uuid() format
format.byte format.byte() format
format.date format.date() format
format.datetime format.datetime() format
"""

COMPREHENSIONS: Final = """
@mapInsert_map_key_value cel.@mapInsert(map(K, V), K, V) map(K, V)
@mapInsert_map_map cel.@mapInsert(map(K, V), map(K, V)) map(K, V)
"""

SEMVERS: Final = """
string_to_semver semver(string) semver
string_bool_to_semver semver(string, bool) semver
is_semver_string isSemver(string) bool
is_semver_string_bool isSemver(string, bool) bool
semver_is_greater_than (semver).isGreaterThan(semver) bool
semver_is_less_than (semver).isLessThan(semver) bool
semver_compare_to (semver).compareTo(semver) int
semver_major (semver).major() int
semver_minor (semver).minor() int
semver_patch (semver).patch() int
"""

LISTS_EXTENSION: Final = """
list_slice (list(T)).slice(int, int) list(T)
list_flatten (list(list(T))).flatten() list(T)
list_flatten_int (list(dyn)).flatten(int) list(dyn)
list_int_sort (list(int)).sort() list(int)
list_uint_sort (list(uint)).sort() list(uint)
list_double_sort (list(double)).sort() list(double)
list_bool_sort (list(bool)).sort() list(bool)
list_google.protobuf.Duration_sort (list(duration)).sort() list(duration)
list_google.protobuf.Timestamp_sort (list(timestamp)).sort() list(timestamp)
list_string_sort (list(string)).sort() list(string)
list_bytes_sort (list(bytes)).sort() list(bytes)
list_int_sortByAssociatedKeys (list(T)).@sortByAssociatedKeys(list(int)) list(T)
list_uint_sortByAssociatedKeys (list(T)).@sortByAssociatedKeys(list(uint)) list(T)
list_double_sortByAssociatedKeys (list(T)).@sortByAssociatedKeys(list(double)) list(T)
list_bool_sortByAssociatedKeys (list(T)).@sortByAssociatedKeys(list(bool)) list(T)
list_google.protobuf.Duration_sortByAssociatedKeys (list(T)).@sortByAssociatedKeys(list(duration)) list(T)
list_google.protobuf.Timestamp_sortByAssociatedKeys (list(T)).@sortByAssociatedKeys(list(timestamp)) list(T)
list_string_sortByAssociatedKeys (list(T)).@sortByAssociatedKeys(list(string)) list(T)
list_bytes_sortByAssociatedKeys (list(T)).@sortByAssociatedKeys(list(bytes)) list(T)
lists_range lists.range(int) list(int)
list_reverse (list(T)).reverse() list(T)
list_distinct (list(T)).distinct() list(T)
"""

INCLUDES_36: Final = """
dra_includes_dyn_dyn (dyn).includes(dyn) bool
"""

INCLUDES: Final = """
list_includes_dyn_dyn (dyn).includes(dyn) bool
"""
