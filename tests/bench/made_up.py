"""Tiny data sets in the four formats, made up for these tests."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "made-up",
        "conversation": {
            "speaker_a": "Ines",
            "speaker_b": "Tobias",
            "session_2_date_time": "9:05 am on 14 July, 2023",
            "session_2": [
                {"speaker": "Tobias", "dia_id": "D2:1", "text": "The lighthouse tour on Sunday was windy."},
                {
                    "speaker": "Ines",
                    "dia_id": "D2:2",
                    "text": "Look what I baked!",
                    "blip_caption": "a rhubarb cake on a blue plate",
                },
            ],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ines", "dia_id": "D1:1", "text": "I adopted a tortoise named Bolt."},
                {"speaker": "Tobias", "dia_id": "D1:2", "text": "My trombone lessons start in autumn."},
                {"speaker": "Ines", "dia_id": "D1:3", "text": "We painted the garden fence green."},
            ],
        },
        "qa": [
            {"question": "Which pet did Ines adopt?", "answer": "x", "evidence": ["D1:01"], "category": 4},
            {
                "question": "What rhubarb cake did Ines bake?",
                "answer": "x",
                "evidence": ["D:2:2"],
                "category": 4,
            },
            {
                "question": "What are trombone lessons and lighthouse tours?",
                "answer": "x",
                "evidence": ["D1:2; D2:1", "D9:9"],
                "category": 1,
            },
            {"question": "When does the submarine leave?", "evidence": ["D1:3"], "category": 5},
            {"question": "Who knows?", "answer": "x", "evidence": ["D7:7", "D"], "category": 3},
        ],
    }
]

LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": "made_up_1",
        "question_type": "single-session-user",
        "question": "Where did I hide the spare key?",
        "question_date": "2023/06/01 (Thu) 10:00",
        "answer": "x",
        "answer_session_ids": ["keys"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/18 (Thu) 12:00", "2023/05/19 (Fri) 12:00"],
        "haystack_session_ids": ["soup", "keys", "trains"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "How long does pumpkin soup keep?"},
                {"role": "assistant", "content": "Three days in the fridge."},
            ],
            [
                {"role": "user", "content": "I hid the spare key under the third flowerpot."},
                {"role": "assistant", "content": "Noted."},
                {"role": "assistant", "content": "  "},
            ],
            [{"role": "user", "content": "The night train to Vienna was late."}],
        ],
    },
    {
        "question_id": "made_up_2_abs",
        "question_type": "single-session-user",
        "question": "What did I pay for the boat?",
        "question_date": "2023/06/01 (Thu) 10:00",
        "answer": "x",
        "answer_session_ids": [],
        "haystack_dates": [],
        "haystack_session_ids": [],
        "haystack_sessions": [],
    },
]

MEMDAILY: dict[str, list[dict[str, Any]]] = {
    "01_simple_events": [
        {
            "tid": 0,
            "message_list": [
                {
                    "mid": 0,
                    "message": "我将要参加春季植树活动。",
                    "time": "2024年03月01日 周五 08:30",
                    "place": "江苏南京",
                },
                {
                    "mid": 1,
                    "message": "小猫的名字叫团子。",
                    "time": "2024年03月01日 周五 20:58",
                    "place": "江苏南京",
                },
                {
                    "mid": 2,
                    "message": "植树活动的地点是紫金山。",
                    "time": "2024年03月02日 周六 07:08",
                    "place": "江苏南京",
                },
            ],
            "question_list": [
                {
                    "qid": 0,
                    "question": "小猫的名字叫什么？",
                    "answer": "团子",
                    "target_step_id": [1],
                    "choices": {},
                    "ground_truth": "A",
                    "time": "2024年03月03日 周日 07:42",
                }
            ],
        }
    ]
}

EVERYDAY: dict[str, Any] = {
    "others": {"en": ["Leo plays the oboe", "The attic has a skylight"]},
    "updates": [
        {
            "id": "u1",
            "kind": "replace",
            "before": ["My editor is vim"],
            "after": ["My editor is Helix now"],
            "question": "Which editor do I use?",
            "current": [["helix"]],
            "obsolete": [["vim"]],
            "still": [],
        },
        {
            "id": "u2",
            "kind": "both",
            "before": ["I play the cello"],
            "after": ["My sister Ada lives in Porto"],
            "questions": [
                {"q": "Which instrument do I play?", "match": [["cello"]]},
                {"q": "Where does Ada live?", "match": [["porto"]]},
            ],
        },
    ],
    "nothing": [{"id": "n1", "user": "Thanks a lot!", "assistant": "You are welcome."}],
    "keep": [{"id": "k1", "user": "I am allergic to peanuts.", "expect": [[["peanut"]], [["submarine"]]]}],
    "stories": [
        {
            "id": "s1",
            "lang": "de",
            "turns": [
                {
                    "session": "a",
                    "role": "user",
                    "at": "2026-05-01T10:00:00+00:00",
                    "text": "I moved to Lyon.",
                },
                {"session": "b", "role": "assistant", "at": "2026-05-02T10:00:00+00:00", "text": "Nice!"},
            ],
            "gold": [{"id": "g1", "say": "moved to Lyon", "match": [["lyon"]]}],
            "questions": [
                {"q": "Where did I move?", "match": [["lyon"]]},
                {"q": "What is my shoe size?", "match": [], "at": "2026-06-01T10:00:00+00:00"},
            ],
        }
    ],
}


def write(path: Path, data: object) -> Path:
    """The data as JSON, packed when the name says so."""
    raw = json.dumps(data, ensure_ascii=False).encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path
