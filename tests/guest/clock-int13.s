# SPDX-License-Identifier: BSD-3-Clause
#
# A boot sector that reads COUNT times through the BIOS, from two drives in
# turn, and writes the low half of the time stamp counter to port 0xe9 after
# each.  On -machine q35 SeaBIOS drives AHCI.

	.code16
	.globl	_start
_start:
	xor	%ax, %ax
	mov	%ax, %ds
	mov	%ax, %ss
	mov	$0x7000, %sp
	mov	$0x12345678, %edi
	mov	$COUNT, %cx
next:
	push	%cx
	imul	$1103515245, %edi, %edi
	add	$12345, %edi
	mov	%edi, %eax
	shr	$12, %eax
	and	$0xffff, %eax
	mov	%eax, lba
	and	$63, %al
	inc	%al
	mov	%al, sectors
	mov	%cl, %dl
	and	$1, %dl
	or	$0x80, %dl
	mov	$packet, %si
	mov	$0x42, %ah
	push	%edi
	int	$0x13
	pop	%edi
	jc	end
	rdtsc
	mov	$4, %cx
1:	out	%al, $0xe9
	shr	$8, %eax
	loop	1b
	pop	%cx
	loop	next
end:	mov	$0x501, %dx
	out	%al, %dx
2:	hlt
	jmp	2b

	.align	4
packet:	.byte	16, 0
sectors: .word	0
	.word	0x0000, 0x2000
lba:	.quad	0

	.org	510
	.word	0xaa55
