// JSON and options between Python and the library.
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::python {
namespace {

/// Options that have another name in Python: a keyword of the language, scikit-learn's word for it, or the
/// name of a method (transform).
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNames{
    {{"lambda", "lambda_"},
     {"features", "n_features"},
     {"validation", "validation_fraction"},
     {"seed", "random_state"},
     {"transform", "count_transform"}}};

nlohmann::json list_to_json(nb::handle value) {
  nlohmann::json list = nlohmann::json::array();
  for (const nb::handle entry : nb::iter(value)) list.push_back(to_json(entry));
  return list;
}

std::string_view type_name(FieldType type) {
  constexpr std::array<std::string_view, 7> names{"flag",    "whole", "number", "text",
                                                  "numbers", "texts", "lists"};
  return names[static_cast<std::size_t>(type)];
}

/// Lists of names may hold numbers, as columns are named by name or by number.
nlohmann::json texts_of(const nlohmann::json& value) {
  if (value.is_array()) {
    nlohmann::json texts = nlohmann::json::array();
    for (const nlohmann::json& entry : value) texts.push_back(texts_of(entry));
    return texts;
  }
  return value.is_string() ? value : nlohmann::json(value.dump());
}

}  // namespace

nb::object to_python(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::boolean:
      return nb::cast(value.get<bool>());
    case nlohmann::json::value_t::number_integer:
      return nb::cast(value.get<std::int64_t>());
    case nlohmann::json::value_t::number_unsigned:
      return nb::cast(value.get<std::uint64_t>());
    case nlohmann::json::value_t::number_float:
      return nb::cast(value.get<double>());
    case nlohmann::json::value_t::string:
      return nb::cast(value.get<std::string>());
    case nlohmann::json::value_t::array: {
      nb::list list;
      for (const nlohmann::json& entry : value) list.append(to_python(entry));
      return list;
    }
    case nlohmann::json::value_t::object: {
      nb::dict dict;
      for (const auto& [key, entry] : value.items()) dict[key.c_str()] = to_python(entry);
      return dict;
    }
    default:
      return nb::none();
  }
}

nlohmann::json to_json(nb::handle value) {
  if (value.is_none()) return {};
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (nb::isinstance<nb::int_>(value)) return nb::cast<std::int64_t>(value);
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (nb::hasattr(value, "tolist")) return to_json(value.attr("tolist")());  // NumPy's arrays and scalars
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) return list_to_json(value);
  if (nb::isinstance<nb::dict>(value)) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [key, entry] : nb::borrow<nb::dict>(value))
      object[nb::cast<std::string>(nb::str(key))] = to_json(entry);
    return object;
  }
  throw InputError("expected a number, a text or a list of them, found " +
                   nb::cast<std::string>(nb::repr(value)));
}

std::string python_name(std::string_view option) {
  for (const auto& [library, name] : kNames) {
    if (option == library) return std::string(name);
  }
  std::string name(option);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string in_python_words(std::string_view message) {
  return render_options(message, python_name);
}

void set_fields(const FieldTable& table, const nb::dict& options) {
  for (const auto& [key, value] : options) {
    const std::string name = nb::cast<std::string>(key);
    const auto& fields = table.fields();
    const auto field =
        std::ranges::find_if(fields, [&](const Field& each) { return python_name(each.name) == name; });
    if (field == fields.end()) throw InputError("there is no option " + name);
    if (value.is_none()) continue;
    nlohmann::json json;
    try {
      json = to_json(value);
    } catch (const InputError& error) {
      throw InputError(name + ": " + error.what());
    }
    if (field->type == FieldType::texts || field->type == FieldType::lists) json = texts_of(json);
    if ((field->type == FieldType::numbers) && !json.is_array()) json = nlohmann::json::array({json});
    if (field->type == FieldType::text && json.is_number()) json = json.dump();
    field->set(json);
  }
}

nb::list table_as_list(const FieldTable& table) {
  nb::list list;
  for (const Field& field : table.fields()) {
    nb::dict entry;
    entry["name"] = python_name(field.name);
    entry["help"] = in_python_words(field.help);
    entry["section"] = in_python_words(field.section);
    entry["type"] = nb::str(type_name(field.type).data());
    entry["choices"] = to_python(field.allowed);
    entry["default"] = to_python(field.fallback);
    entry["default_text"] = in_python_words(field.fallback_text);
    entry["expected"] = field.expected();
    entry["requirement"] = field.needs.empty() ? "" : in_python_words(field.requirement());
    entry["is_file"] = field.is_file;
    list.append(entry);
  }
  return list;
}

namespace {

struct IdlePools {
  std::mutex mutex;
  std::vector<std::unique_ptr<ThreadPool>> pools;
};

/// Idle pools of this process. Threads do not survive a fork, so a child begins with an empty store.
IdlePools& idle_pools() {
  static IdlePools* store = new IdlePools;
  static pid_t process = getpid();
  if (process != getpid()) {
    store = new IdlePools;
    process = getpid();
  }
  return *store;
}

}  // namespace

Threads::Threads(int count) {
  const int wanted = count > 0 ? count : static_cast<int>(std::thread::hardware_concurrency());
  IdlePools& idle = idle_pools();
  {
    const std::lock_guard lock(idle.mutex);
    const auto found =
        std::ranges::find_if(idle.pools, [&](const auto& pool) { return pool->size() == wanted; });
    if (found != idle.pools.end()) {
      pool_ = std::move(*found);
      idle.pools.erase(found);
    }
  }
  if (!pool_) pool_ = std::make_unique<ThreadPool>(wanted);
}

Threads::~Threads() {
  constexpr std::size_t most = 8;
  IdlePools& idle = idle_pools();
  const std::lock_guard lock(idle.mutex);
  if (idle.pools.size() < most) idle.pools.push_back(std::move(pool_));
}

int threads_for(Index numbers, int asked) {
  constexpr Index worthwhile = 1 << 16;  // below it a thread costs more than it saves
  return numbers < worthwhile ? 1 : asked;
}

}  // namespace sharelearn::python
