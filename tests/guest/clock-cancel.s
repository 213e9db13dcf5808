# SPDX-License-Identifier: BSD-3-Clause
#
# A boot sector that starts a bus-master DMA read (PIIX3) and stops the bus
# master before it can be done, which makes QEMU wait for it with the clock
# standing still.  Twice; the second time the drive is left to finish.

	.set	CHANNEL, 0x1f0
	.set	PRD, 0x6000

	.code16
	.globl	_start
_start:
	cli
	xor	%ax, %ax
	mov	%ax, %ds
	mov	%ax, %ss
	mov	$0x7000, %sp
	mov	$0x80000904, %eax
	call	pci
	or	$5, %eax
	out	%eax, %dx
	mov	$0x80000920, %eax
	call	pci
	and	$0xfff0, %eax
	mov	%ax, %bp
	movl	$0x20000, PRD
	movl	$0x80000200, PRD + 4

	mov	$77, %bl
	call	start
	call	stop
	mov	$99, %bl
	call	start
1:	mov	%bp, %dx
	add	$2, %dx
	in	%dx, %al
	test	$4, %al
	jz	1b
	call	stop
	mov	$0x501, %dx
	out	%al, %dx
2:	hlt
	jmp	2b

# Read one sector of cylinder bl.
start:
	mov	%bp, %dx
	add	$4, %dx
	mov	$PRD, %eax
	out	%eax, %dx
	sub	$2, %dx
	mov	$6, %al
	out	%al, %dx
	mov	$CHANNEL + 2, %dx
	mov	$1, %al
	out	%al, %dx
	inc	%dx
	out	%al, %dx
	inc	%dx
	mov	%bl, %al
	out	%al, %dx
	inc	%dx
	xor	%al, %al
	out	%al, %dx
	inc	%dx
	mov	$0xe0, %al
	out	%al, %dx
	inc	%dx
	mov	$0xc8, %al
	out	%al, %dx
	mov	%bp, %dx
	mov	$9, %al
	out	%al, %dx
	ret

stop:
	mov	%bp, %dx
	xor	%al, %al
	out	%al, %dx
	ret

pci:
	mov	$0xcf8, %dx
	out	%eax, %dx
	mov	$0xcfc, %dx
	in	%dx, %eax
	ret

	.org	510
	.word	0xaa55
