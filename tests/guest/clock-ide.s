# SPDX-License-Identifier: BSD-3-Clause
#
# A boot sector that moves data by bus-master DMA on the primary IDE channel
# of a PIIX3 (-machine pc), COUNT commands at pseudo-random places, and
# writes the low half of the time stamp counter to port 0xe9 after each.
# Every POLLS-th wait polls, the others halt until the interrupt; every
# WRITES-th command is a write (0 = none).  MASK is that of the LBA.
# Ends QEMU by isa-debug-exit at 0x501.
#
#   as --32 --defsym COUNT=500 --defsym POLLS=8 --defsym WRITES=3 --defsym MASK=0xffff

	.set	CHANNEL, 0x1f0
	.set	CONTROL, 0x3f6
	.set	BUFFER, 0x20000
	.set	PRD, 0x6000

	.code16
	.globl	_start
_start:
	cli
	xor	%ax, %ax
	mov	%ax, %ds
	mov	%ax, %ss
	mov	$0x7000, %sp

	# Bus master enable and BAR4 of the IDE function, 0:1.1.
	mov	$0x80000904, %eax
	mov	$0xcf8, %dx
	out	%eax, %dx
	mov	$0xcfc, %dx
	in	%dx, %eax
	or	$5, %eax
	out	%eax, %dx
	mov	$0x80000920, %eax
	mov	$0xcf8, %dx
	out	%eax, %dx
	mov	$0xcfc, %dx
	in	%dx, %eax
	and	$0xfff0, %eax
	mov	%ax, %bp

	# Interrupts on; one descriptor for all.
	mov	$CONTROL, %dx
	xor	%al, %al
	out	%al, %dx
	movl	$BUFFER, PRD
	mov	$0x12345678, %esi		# random state
	mov	$COUNT, %cx

next:
	push	%cx
	call	draw
	mov	%eax, %edi			# LBA
	and	$MASK, %edi
	call	draw
	and	$127, %ax
	inc	%ax
	mov	%ax, %bx			# sectors
	shl	$9, %ax				# 65536 is written 0
	movzwl	%ax, %eax
	or	$0x80000000, %eax
	mov	%eax, PRD + 4

	# A pause, so that commands come at all phases.
	call	draw
	movzwl	%ax, %ecx
1:	addr32 loop 1b

	mov	$CHANNEL + 2, %dx
	mov	%bl, %al
	out	%al, %dx
	mov	%edi, %eax
	inc	%dx
	out	%al, %dx
	shr	$8, %eax
	inc	%dx
	out	%al, %dx
	shr	$8, %eax
	inc	%dx
	out	%al, %dx
	shr	$8, %eax
	and	$0x0f, %al
	or	$0xe0, %al
	inc	%dx
	out	%al, %dx

	# Read DMA, or write DMA.
	mov	$0xc8, %bl
	mov	$8, %bh
	.if	WRITES
	pop	%ax
	push	%ax
	xor	%dx, %dx
	mov	$WRITES, %cx
	div	%cx
	test	%dx, %dx
	jnz	2f
	mov	$0xca, %bl
	mov	$0, %bh
2:
	.endif
	mov	%bp, %dx
	add	$4, %dx
	mov	$PRD, %eax
	out	%eax, %dx
	sub	$2, %dx
	mov	$6, %al
	out	%al, %dx
	mov	$CHANNEL + 7, %dx
	mov	%bl, %al
	out	%al, %dx
	mov	%bp, %dx
	mov	%bh, %al
	or	$1, %al
	out	%al, %dx

	.if	POLLS
	pop	%ax
	push	%ax
	xor	%dx, %dx
	mov	$POLLS, %cx
	div	%cx
	test	%dx, %dx
	jz	poll
	.endif

halt:	cli
	call	done
	jnz	finish
	sti
	hlt
	jmp	halt

poll:	call	done
	jz	poll

finish:
	cli
	mov	$CHANNEL + 7, %dx
	in	%dx, %al
	mov	%bp, %dx
	xor	%al, %al
	out	%al, %dx
	rdtsc
	mov	$4, %cx
3:	out	%al, $0xe9
	shr	$8, %eax
	loop	3b
	pop	%cx
	dec	%cx
	jnz	next

	mov	$0x501, %dx
	out	%al, %dx
4:	hlt
	jmp	4b

# NZ: the controller has raised its interrupt.
done:
	mov	%bp, %dx
	add	$2, %dx
	in	%dx, %al
	test	$4, %al
	ret

# eax = the next 24 random bits.
draw:
	imul	$1103515245, %esi, %esi
	add	$12345, %esi
	mov	%esi, %eax
	shr	$8, %eax
	ret

	.org	510
	.word	0xaa55
