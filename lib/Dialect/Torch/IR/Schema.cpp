// Parser of PyTorch schema strings, by recursive descent over the text. Nothing
// in a string can make it crash: what does not fit the grammar is an error with
// the position.

#include "ssa-compiler/Dialect/Torch/IR/Schema.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace ssa_compiler::torch;

bool AliasInfo::mayAlias(const AliasInfo &other) const {
  if (!present || !other.present)
    return false;
  if (wildcard || other.wildcard)
    return true;
  return llvm::any_of(sets, [&](const std::string &set) {
    return llvm::is_contained(other.sets, set);
  });
}

std::string Schema::getTorchName() const {
  StringRef ns, op;
  std::tie(ns, op) = StringRef(name).split("::");
  std::string result = "torch." + ns.str() + (op.empty() ? "" : "." + op.str());
  return overload.empty() ? result : result + "." + overload;
}

bool Schema::hasWrites() const {
  return llvm::any_of(arguments, [](const Argument &argument) {
    return argument.alias.isWrite;
  });
}

namespace {

/// One pass over a schema string. A method that returns failure has set
/// `error`.
class SchemaParser {
public:
  explicit SchemaParser(StringRef text) : text(text), rest(text) {}

  LogicalResult parse(Schema &schema) {
    if (failed(parseName(schema)) || failed(parseArguments(schema)))
      return failure();
    if (!consume("->"))
      return fail("expected '->'");
    if (failed(parseReturns(schema)))
      return failure();
    skipSpace();
    return rest.empty() ? success() : fail("expected the end");
  }

  std::string error;

private:
  static constexpr unsigned kMaxDepth = 64;

  LogicalResult fail(const Twine &message) {
    error =
        (message + " at character " + Twine(text.size() - rest.size())).str();
    return failure();
  }

  void skipSpace() { rest = rest.ltrim(); }

  bool consume(StringRef token) {
    skipSpace();
    return rest.consume_front(token);
  }

  bool peek(StringRef token) {
    skipSpace();
    return rest.starts_with(token);
  }

  /// Takes the longest run of characters of an identifier; `extra` are
  /// characters allowed besides.
  StringRef takeIdentifier(StringRef extra = "") {
    skipSpace();
    StringRef identifier = rest.take_while([&](char c) {
      return llvm::isAlnum(c) || c == '_' || extra.contains(c);
    });
    rest = rest.drop_front(identifier.size());
    return identifier;
  }

  /// `aten::add_.Tensor`; everything after the first dot is the overload.
  LogicalResult parseName(Schema &schema) {
    StringRef qualified = takeIdentifier(":.");
    auto [name, overload] = qualified.split('.');
    if (name.empty())
      return fail("expected an operator's name");
    // `__torch__.foo` and the like have no namespace; their dots belong to the
    // name.
    schema.name = name.str();
    schema.overload = overload.str();
    return success();
  }

  LogicalResult parseArguments(Schema &schema) {
    if (!consume("("))
      return fail("expected '('");
    if (consume(")"))
      return success();
    bool kwargOnly = false;
    do {
      if (consume("...")) {
        schema.isVararg = true;
      } else if (consume("*")) {
        kwargOnly = true;
      } else {
        Argument argument;
        argument.kwargOnly = kwargOnly;
        if (failed(parseArgument(argument)))
          return failure();
        schema.arguments.push_back(std::move(argument));
      }
    } while (consume(","));
    return consume(")") ? success() : fail("expected ')' or ','");
  }

  /// A type, a name and an optional default.
  LogicalResult parseArgument(Argument &argument) {
    if (failed(parseType(argument, 0)))
      return failure();
    StringRef name = takeIdentifier(".");
    if (name.empty())
      return fail("expected an argument's name");
    argument.name = name.str();
    if (consume("="))
      return parseDefault(argument);
    return success();
  }

  /// Text up to the next comma or parenthesis that is not inside brackets or
  /// quotes.
  LogicalResult parseDefault(Argument &argument) {
    skipSpace();
    unsigned depth = 0;
    size_t end = 0;
    for (; end < rest.size(); ++end) {
      char c = rest[end];
      if (c == '"' || c == '\'') {
        size_t close = end + 1;
        while (close < rest.size() && rest[close] != c)
          close += rest[close] == '\\' ? 2 : 1;
        if (close >= rest.size())
          return fail("expected the end of a string");
        end = close;
      } else if (c == '[' || c == '(') {
        ++depth;
      } else if (depth == 0 && (c == ',' || c == ')')) {
        break;
      } else if (c == ']' || c == ')') {
        if (depth == 0)
          return fail("expected a default value");
        --depth;
      }
    }
    StringRef value = rest.take_front(end).rtrim();
    if (value.empty())
      return fail("expected a default value");
    argument.defaultValue = value.str();
    rest = rest.drop_front(end);
    return success();
  }

  /// One return, a list of them in parentheses, or `...`.
  LogicalResult parseReturns(Schema &schema) {
    if (consume("...")) {
      schema.isVarret = true;
      return success();
    }
    if (!consume("(")) {
      return parseReturn(schema);
    }
    if (consume(")"))
      return success();
    do {
      if (consume("...")) {
        schema.isVarret = true;
        continue;
      }
      if (failed(parseReturn(schema)))
        return failure();
    } while (consume(","));
    return consume(")") ? success() : fail("expected ')' or ','");
  }

  LogicalResult parseReturn(Schema &schema) {
    Argument result;
    if (failed(parseType(result, 0)))
      return failure();
    result.name = takeIdentifier(".").str();
    schema.returns.push_back(std::move(result));
    return success();
  }

  /// A type with its annotations: `Tensor(a!)[]`, `Dict(str, t)(a)`, `(int,
  /// Tensor?)`, `int[2]?`. Annotations inside a container are those of the
  /// container: the op reaches the elements through it.
  LogicalResult parseType(Argument &argument, unsigned depth) {
    if (depth > kMaxDepth)
      return fail("expected fewer nested types");
    if (consume("(")) {
      if (failed(parseTypeList(argument, depth)))
        return failure();
      argument.type = "(" + argument.type + ")";
    } else {
      StringRef base = takeIdentifier(".");
      if (base.empty())
        return fail("expected a type");
      std::string type = base.str();
      bool generic = llvm::is_contained(
          {"Dict", "Future", "RRef", "Await", "Union", "Optional", "List"},
          base);
      if (generic && consume("(")) {
        if (failed(parseTypeList(argument, depth)))
          return failure();
        type += "(" + argument.type + ")";
      }
      argument.type = std::move(type);
    }
    return parseSuffixes(argument);
  }

  /// The types of a tuple or of a generic type, after the opening parenthesis;
  /// their text is left in `argument.type`.
  LogicalResult parseTypeList(Argument &argument, unsigned depth) {
    std::string types;
    if (!consume(")")) {
      do {
        Argument element;
        if (failed(parseType(element, depth + 1)))
          return failure();
        // A tuple's fields may be named.
        takeIdentifier();
        types += (types.empty() ? "" : ", ") + element.type;
        mergeAlias(argument.alias, element.alias);
      } while (consume(","));
      if (!consume(")"))
        return fail("expected ')' or ','");
    }
    argument.type = std::move(types);
    return success();
  }

  static void mergeAlias(AliasInfo &into, const AliasInfo &from) {
    into.present |= from.present;
    into.isWrite |= from.isWrite;
    into.wildcard |= from.wildcard;
    for (const std::string &set : from.sets)
      if (!llvm::is_contained(into.sets, set))
        into.sets.push_back(set);
  }

  /// `?`, `[]`, `[2]` and `(a!)`, in any order.
  LogicalResult parseSuffixes(Argument &argument) {
    while (true) {
      if (consume("?")) {
        argument.type += "?";
      } else if (consume("[")) {
        StringRef size = takeIdentifier();
        if (!consume("]"))
          return fail("expected ']'");
        argument.type += ("[" + size + "]").str();
      } else if (peek("(")) {
        if (failed(parseAlias(argument.alias)))
          return failure();
      } else {
        return success();
      }
    }
  }

  /// `(a)`, `(a!)`, `(a|b)`, `(*)`, `(a! -> a|*)`.
  LogicalResult parseAlias(AliasInfo &alias) {
    consume("(");
    AliasInfo parsed;
    parsed.present = true;
    auto parseSets = [&]() -> LogicalResult {
      do {
        if (consume("*")) {
          parsed.wildcard = true;
          continue;
        }
        StringRef set = takeIdentifier();
        if (set.empty())
          return fail("expected an alias set");
        if (!llvm::is_contained(parsed.sets, set))
          parsed.sets.push_back(set.str());
      } while (consume("|"));
      if (consume("!"))
        parsed.isWrite = true;
      return success();
    };
    if (failed(parseSets()))
      return failure();
    if (consume("->") && failed(parseSets()))
      return failure();
    if (!consume(")"))
      return fail("expected ')' after an alias set");
    mergeAlias(alias, parsed);
    return success();
  }

  StringRef text;
  StringRef rest;
};

} // namespace

std::optional<std::string>
ssa_compiler::torch::getFunctionalizedSchema(const Schema &schema) {
  if (schema.changesMetadata || schema.isVararg || schema.isVarret)
    return std::nullopt;
  std::string arguments, returns;
  auto append = [](std::string &list, StringRef text) {
    if (!list.empty())
      list += ", ";
    list += text;
  };
  for (const Argument &argument : schema.arguments) {
    append(arguments, argument.type + " " + argument.name);
    if (!argument.alias.isWrite)
      continue;
    if (argument.type != "Tensor")
      return std::nullopt;
    append(returns, argument.type);
  }
  for (const Argument &result : schema.returns) {
    // What is no written argument has to be new.
    if (result.alias.present && !result.alias.isWrite)
      return std::nullopt;
    if (!result.alias.present)
      append(returns, result.type);
  }
  std::string torchName = schema.getTorchName();
  StringRef name = torchName;
  name.consume_front("torch.");
  return ("functionalized::" + name + "(" + arguments + ") -> (" + returns +
          ")")
      .str();
}

FailureOr<Schema> ssa_compiler::torch::parseSchema(StringRef text,
                                                   std::string *error) {
  Schema schema;
  SchemaParser parser(text);
  if (succeeded(parser.parse(schema))) {
    schema.isRandom =
        llvm::any_of(schema.arguments, [](const Argument &argument) {
          return StringRef(argument.type).starts_with("Generator");
        });
    return schema;
  }
  if (error)
    *error = std::move(parser.error);
  return failure();
}
