# SPDX-License-Identifier: BSD-3-Clause
#
# A boot sector that keeps up to 8 queued commands in flight on the first
# AHCI port (-machine q35), COUNT rounds, and writes the low half of the time
# stamp counter to port 0xe9 whenever it sees one complete.  One in four is a
# write if WRITES is 1.

	.set	SLOTS, 8
	.set	HEADERS, 0x10000
	.set	RECEIVED, 0x11000
	.set	TABLES, 0x12000			# 256 bytes each
	.set	BUFFERS, 0x100000		# 64 KiB each
	# Registers of a port.
	.set	CLB, 0x00
	.set	FB, 0x08
	.set	IS, 0x10
	.set	CMD, 0x18
	.set	SERR, 0x30
	.set	SACT, 0x34
	.set	CI, 0x38

	.code16
	.globl	_start
_start:
	cli
	xor	%ax, %ax
	mov	%ax, %ds
	lgdt	gdt_pointer
	mov	%cr0, %eax
	or	$1, %al
	mov	%eax, %cr0
	ljmp	$8, $flat

	.code32
flat:
	mov	$16, %ax
	mov	%ax, %ds
	mov	%ax, %es
	mov	%ax, %ss
	mov	$0x7000, %esp

	# Bus master; the registers of port 0.
	mov	$0x8000fa04, %eax
	call	pci
	or	$6, %eax
	out	%eax, %dx
	mov	$0x8000fa24, %eax
	call	pci
	and	$~15, %eax
	lea	0x100(%eax), %esi

	# Stop what the BIOS left running, put our lists in, start.
	andl	$~1, CMD(%esi)
1:	testl	$0x8000, CMD(%esi)
	jnz	1b
	andl	$~0x10, CMD(%esi)
2:	testl	$0x4000, CMD(%esi)
	jnz	2b
	movl	$HEADERS, CLB(%esi)
	movl	$RECEIVED, FB(%esi)
	movl	$-1, SERR(%esi)
	movl	$-1, IS(%esi)
	orl	$0x10, CMD(%esi)
	orl	$1, CMD(%esi)

	movl	$COUNT, rounds
round:	xor	%ecx, %ecx
	xor	%ebp, %ebp			# in flight, as last seen
next:	call	prepare
	mov	$1, %eax
	shl	%cl, %eax
	or	%eax, %ebp
	mov	%eax, SACT(%esi)
	mov	%eax, CI(%esi)
	call	draw
	movzwl	%ax, %edx
3:	call	look
	sub	$64, %edx
	ja	3b
	inc	%ecx
	cmp	$SLOTS, %ecx
	jb	next
4:	call	look
	test	%ebp, %ebp
	jnz	4b
	decl	rounds
	jnz	round

	mov	$0x501, %dx
	out	%al, %dx
5:	hlt
	jmp	5b

# A time stamp if something has completed.
look:
	mov	SACT(%esi), %eax
	cmp	%eax, %ebp
	je	7f
	mov	%eax, %ebp
	push	%edx
	rdtsc
	mov	$4, %dl
6:	out	%al, $0xe9
	shr	$8, %eax
	dec	%dl
	jnz	6b
	pop	%edx
7:	ret

# Header, table and data pointer of slot ecx.
prepare:
	mov	%ecx, %edi
	shl	$8, %edi
	add	$TABLES, %edi
	mov	%ecx, %edx
	shl	$5, %edx
	movl	$0x10005, HEADERS(%edx)
	mov	%edi, HEADERS + 8(%edx)

	call	draw
	and	$63, %eax
	inc	%eax				# sectors
	mov	%eax, %edx
	shl	$9, %edx
	dec	%edx
	mov	%edx, 0x8c(%edi)
	shl	$24, %eax
	or	$0x608027, %eax			# READ FPDMA QUEUED
	mov	%eax, (%edi)
	call	draw
	.if	WRITES
	test	$0x30000, %eax
	jnz	8f
	movb	$0x61, 2(%edi)			# WRITE FPDMA QUEUED
	mov	%ecx, %edx
	shl	$5, %edx
	orb	$0x40, HEADERS(%edx)
8:
	.endif
	and	$0xffff, %eax
	or	$0x40000000, %eax		# LBA
	mov	%eax, 4(%edi)
	mov	%ecx, %eax
	shl	$3, %eax
	mov	%eax, 12(%edi)
	shl	$13, %eax
	add	$BUFFERS, %eax
	mov	%eax, 0x80(%edi)
	ret

# eax = PCI configuration register eax; dx = where to write it.
pci:
	mov	$0xcf8, %dx
	out	%eax, %dx
	mov	$0xcfc, %dx
	in	%dx, %eax
	ret

# eax = the next 24 random bits.
draw:
	imul	$1103515245, random, %eax
	add	$12345, %eax
	mov	%eax, random
	shr	$8, %eax
	ret

	.align	8
gdt:	.quad	0, 0x00cf9a000000ffff, 0x00cf92000000ffff
gdt_pointer: .word . - gdt - 1
	.long	gdt
random:	.long	0x12345678
rounds:	.long	0

	.org	510
	.word	0xaa55
