"""The proxy before a model: a client changes its base URL, and its chats remember.

A chat comes in (`mounting`), is read (`chat`), gets what is remembered (`recalling`), goes to the model
service (`upstream`) whose answer is passed on byte by byte, and is listened to afterwards (`capturing`).
Whatever goes wrong with the memory, the chat goes on without it.
"""
