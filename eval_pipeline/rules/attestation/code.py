"""Whether two code objects do the same, wherever their files lie."""

from inspect import CO_OPTIMIZED
from types import CodeType

_FIELDS = (
    "co_name",
    "co_qualname",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_flags",
    "co_code",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_exceptiontable",
)


def same_code(code: CodeType, reference: CodeType) -> bool:
    """Instructions, names and constants, nested code included. File names and line numbers play no part."""
    if code is reference:
        return True
    if code == reference:
        return code.co_cellvars == reference.co_cellvars and code.co_freevars == reference.co_freevars
    if any(getattr(code, name) != getattr(reference, name) for name in _FIELDS):
        return False
    return _same_constants(code.co_consts, reference.co_consts, of_class_body=not code.co_flags & CO_OPTIMIZED)


def _same_constants(constants: tuple[object, ...], reference: tuple[object, ...], *, of_class_body: bool) -> bool:
    if len(constants) != len(reference):
        return False
    return all(_same_constant(*pair, of_class_body=of_class_body) for pair in zip(constants, reference, strict=True))


def _same_constant(constant: object, reference: object, *, of_class_body: bool) -> bool:
    if isinstance(constant, CodeType) and isinstance(reference, CodeType):
        return same_code(constant, reference)
    if type(constant) is not type(reference):
        return False
    if isinstance(constant, tuple) and isinstance(reference, tuple):
        if of_class_body and all(isinstance(item, str) for item in (*constant, *reference)):
            # Python 3.13 keeps the names of a class's attributes; their order changes from compilation to compilation.
            return set(constant) == set(reference)
        return _same_constants(constant, reference, of_class_body=False)
    return repr(constant) == repr(reference) if isinstance(constant, float | complex) else constant == reference
