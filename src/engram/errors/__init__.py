"""Every error the engine raises, as one tree with stable codes.

EngramError
├── InvalidInput            E2000   the call cannot be carried out as it was made; nothing changed
│   ├── EmptyContent        E2001
│   ├── ContentTooLong      E2002
│   ├── TooManyTags         E2003
│   ├── BadTag              E2004
│   ├── UnknownValue        E2005
│   ├── BadText             E2006
│   ├── WrongType           E2007
│   ├── OutOfRange          E2008
│   ├── BadCursor           E2009
│   ├── BadTransition       E2010
│   ├── NotFound            E2011
│   ├── AmbiguousId         E2012
│   ├── CycleRefused        E2013
│   ├── BadImport           E2014
│   ├── ShortId             E2015
│   ├── UnknownFormat       E2016
│   ├── SourceTooLarge      E2017
│   ├── BadSource           E2018
│   ├── UnknownEntity       E2021
│   ├── UnknownRun          E2022
│   ├── NotUndoable         E2023
│   ├── NoFurtherLayer      E2024
│   ├── UnknownSession      E2025
│   ├── PromptTooLong       E2026
│   ├── TurnNotBegun        E2027
│   ├── NotPublishable      E2028
│   └── TooMany             E2040
├── AccessDenied            E4001   the caller may not see or change that
├── TooManyRecalls          E4002   an agent asks more often than it may
├── ConfigError             E5001   a setting has no meaning or is out of its range
├── EmbedderError
│   ├── EmbedderDown        E3001
│   ├── EmbedderMismatch    E3002
│   └── EmbedderRefused     E3003
├── ModelNeeded             E3011   only a model can do that, and there is none
├── RerankerDown            E3010   the cross-encoder is not there
├── TurnAborted             E7002   somebody turned to another agent while a turn was under way
├── WorkCancelled           E7003   nobody waits for this work any more
├── UpkeepBusy              E7001   another process maintains this file at the moment
├── DoorError               E6000   a request or a server that cannot go on as it is; `server.refusals`
└── StoreError
    ├── KeyNeeded           E1001
    ├── StoreCorrupt        E1002
    ├── DiskFull            E1003
    ├── StoreBusy           E1004
    ├── NewerSchema         E1005
    ├── Overloaded          E1006
    ├── MigrationChanged    E1007
    ├── StoreClosed         E1008
    ├── NoSuchFile          E1009   a file that was named is not there
    └── FileExists          E1010   a file would have been written over
"""

from __future__ import annotations

from engram.errors.base import EngramError
from engram.errors.file import (
    DiskFull,
    FileExists,
    KeyNeeded,
    MigrationChanged,
    NewerSchema,
    NoSuchFile,
    Overloaded,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
)
from engram.errors.mistakes import (
    AmbiguousId,
    BadCursor,
    BadImport,
    BadSource,
    BadTag,
    BadText,
    BadTransition,
    ContentTooLong,
    CycleRefused,
    EmptyContent,
    InvalidInput,
    NoFurtherLayer,
    NotFound,
    NotPublishable,
    NotUndoable,
    OutOfRange,
    PromptTooLong,
    ShortId,
    SourceTooLarge,
    TooMany,
    TooManyTags,
    TurnNotBegun,
    UnknownEntity,
    UnknownFormat,
    UnknownRun,
    UnknownSession,
    UnknownValue,
    WrongType,
)
from engram.errors.outside import (
    AccessDenied,
    ConfigError,
    DoorError,
    EmbedderDown,
    EmbedderError,
    EmbedderMismatch,
    EmbedderRefused,
    ModelNeeded,
    RerankerDown,
    TooManyRecalls,
    TurnAborted,
    UpkeepBusy,
    WorkCancelled,
)

__all__ = [
    "AccessDenied",
    "AmbiguousId",
    "BadCursor",
    "BadImport",
    "BadSource",
    "BadTag",
    "BadText",
    "BadTransition",
    "ConfigError",
    "ContentTooLong",
    "CycleRefused",
    "DiskFull",
    "DoorError",
    "EmbedderDown",
    "EmbedderError",
    "EmbedderMismatch",
    "EmbedderRefused",
    "EmptyContent",
    "EngramError",
    "FileExists",
    "InvalidInput",
    "KeyNeeded",
    "MigrationChanged",
    "ModelNeeded",
    "NewerSchema",
    "NoFurtherLayer",
    "NoSuchFile",
    "NotFound",
    "NotPublishable",
    "NotUndoable",
    "OutOfRange",
    "Overloaded",
    "PromptTooLong",
    "RerankerDown",
    "ShortId",
    "SourceTooLarge",
    "StoreBusy",
    "StoreClosed",
    "StoreCorrupt",
    "StoreError",
    "TooMany",
    "TooManyRecalls",
    "TooManyTags",
    "TurnAborted",
    "TurnNotBegun",
    "UnknownEntity",
    "UnknownFormat",
    "UnknownRun",
    "UnknownSession",
    "UnknownValue",
    "UpkeepBusy",
    "WorkCancelled",
    "WrongType",
]
