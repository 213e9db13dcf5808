# SPDX-License-Identifier: BSD-3-Clause
#
# A boot sector that writes the master drive's IDENTIFY block to port 0xe9:
# as it stands, and once more after SET FEATURES (UDMA mode 2) and a read.

	.set	CHANNEL, 0x1f0

	.code16
	.globl	_start
_start:
	cli
	xor	%ax, %ax
	mov	%ax, %ds
	mov	%ax, %es
	mov	%ax, %ss
	mov	$0x7000, %sp
	mov	$CHANNEL + 6, %dx
	mov	$0xe0, %al
	out	%al, %dx

	call	identify

	mov	$CHANNEL + 1, %dx		# set transfer mode
	mov	$0x03, %al
	out	%al, %dx
	inc	%dx
	mov	$0x42, %al
	out	%al, %dx
	mov	$CHANNEL + 7, %dx
	mov	$0xef, %al
	out	%al, %dx
	call	ready

	mov	$CHANNEL + 2, %dx		# read sector 1
	mov	$1, %al
	out	%al, %dx
	inc	%dx
	out	%al, %dx
	mov	$0, %al
	inc	%dx
	out	%al, %dx
	inc	%dx
	out	%al, %dx
	mov	$0x20, %al
	call	block

	call	identify
	mov	$0x501, %dx
	out	%al, %dx
1:	hlt
	jmp	1b

identify:
	mov	$0xec, %al
	call	block
	mov	$0x8000, %si
	mov	$512, %cx
2:	lodsb
	out	%al, $0xe9
	loop	2b
	ret

# Issue al, and read one sector to 0x8000.
block:
	mov	$CHANNEL + 7, %dx
	out	%al, %dx
	call	ready
	mov	$0x8000, %di
	mov	$256, %cx
	mov	$CHANNEL, %dx
	rep insw
	ret

ready:
	mov	$CHANNEL + 7, %dx
3:	in	%dx, %al
	test	$0x80, %al
	jnz	3b
	ret

	.org	510
	.word	0xaa55
