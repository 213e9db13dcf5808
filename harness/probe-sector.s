# SPDX-License-Identifier: BSD-3-Clause
#
# A boot sector that reads sector 0 of BIOS drive 0x81 so many times, and
# writes to port 0xe9 how long each took: 16 bits, in periods of the PIT
# (1193182 a second).  It ends the machine through port 0x501: QEMU's exit
# status is 85, or 87 when a read failed.  Number of reads: offset 2.

	.code16
	.globl	_start
_start:
	jmp	1f
count:	.word	0

1:	xor	%ax, %ax
	mov	%ax, %ds
	mov	%ax, %es
	mov	%ax, %ss
	mov	$0x7000, %sp
	sti
2:	cmpw	$0, count
	je	4f
	decw	count
	call	pit
	mov	%ax, before
	mov	$packet, %si
	mov	$0x42, %ah			# extended read
	mov	$0x81, %dl
	int	$0x13
	jc	5f
	call	pit
	sub	before, %ax
	neg	%ax				# it counts down
	out	%al, $0xe9
	mov	%ah, %al
	out	%al, $0xe9
	jmp	2b

4:	mov	$42, %al
	jmp	6f
5:	mov	$43, %al
6:	mov	$0x501, %dx
	out	%al, %dx
7:	hlt
	jmp	7b

# Counter 0, which the BIOS lets run from 65535 to 0 and round.
pit:	xor	%al, %al
	out	%al, $0x43
	in	$0x40, %al
	mov	%al, %ah
	in	$0x40, %al
	xchg	%al, %ah
	ret

before:	.word	0
packet:	.byte	16, 0
	.word	1				# sectors
	.word	0x8000, 0			# to
	.quad	0				# LBA

	.org	510
	.word	0xaa55
