#!/bin/sh
# Starts the server.
run
