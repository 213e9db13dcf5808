# SPDX-License-Identifier: BSD-3-Clause

MODEL_SRC := $(wildcard disk-model/*.c)
MODEL_OBJ := $(MODEL_SRC:%.c=$(BUILD)/%.o)

ALL += $(MODEL_OBJ)
