package lunar.initiator.scsi;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import lunar.block.InvalidRequestException;
import lunar.block.MediumException;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.scsi.Bytes;
import lunar.scsi.copy.BlockCopySegment;
import lunar.scsi.copy.BlockRange;
import lunar.scsi.copy.CopyOperatingParameters;
import lunar.scsi.copy.CopyOperationInformation;
import lunar.scsi.copy.CopyParameterList;
import lunar.scsi.copy.CscdDescriptor;
import lunar.scsi.copy.ExtendedCopy;
import lunar.scsi.copy.PopulateToken;
import lunar.scsi.copy.PopulateTokenList;
import lunar.scsi.copy.ReceiveCopyResults;
import lunar.scsi.copy.RodToken;
import lunar.scsi.copy.WriteUsingToken;
import lunar.scsi.copy.WriteUsingTokenList;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.Naa;
import lunar.scsi.vpd.ThirdPartyCopy;

/**
 * Copies within a target, without transferring data: from the unit of this object to another unit of the target. There
 * are two methods: {@link #extendedCopy} (XCOPY), which VMware uses, and {@link #offload} by ROD tokens (ODX), which
 * Windows uses; the steps of the latter are available separately, too. Both units must have the same block size.
 *
 * <p>Progress is reported in blocks copied by this call, on the calling thread. After an exception at least the blocks
 * reported are copied, and perhaps more. An interrupt of the waiting thread aborts a copy by token.
 */
public final class Copies {
    /**
     * A range of blocks to copy.
     *
     * @param sourceLba first block here
     * @param destinationLba first block there
     * @param blockCount number of blocks
     */
    public record Segment(long sourceLba, long destinationLba, long blockCount) {
        public Segment {
            if (blockCount < 0) {
                throw new IllegalArgumentException("blocks: " + blockCount);
            }
        }
    }

    /**
     * A ROD token: it entitles its bearer to read the data it represents, until the blocks are written or it has not
     * been used for a while. It may be given to another host.
     *
     * @param bytes 512 bytes
     * @param blockCount blocks of the source that it represents, which may be fewer than requested
     */
    public record Token(Bytes bytes, long blockCount) {
        public Token {
            if (bytes.length() != RodToken.LENGTH) {
                throw new IllegalArgumentException("a token of " + bytes.length() + " bytes");
            }
        }

        /** Returns a token for any number of zeroes, at a target that supports it (SBC-4 section 4.28.4). */
        public static Token zeroes() {
            return new Token(RodToken.zeroes(), Long.MAX_VALUE);
        }
    }

    private static final int FIRST_PARAMETERS_BYTES = 512;
    private static final int MAX_PARAMETERS_BYTES = 4096;
    private static final int MAX_DESIGNATOR_BYTES = 20;
    private static final int BLOCK_TOKEN_LIMITS = 0x0000;
    private static final long DEFAULT_TOKEN_BYTES = 64 << 20;
    private static final long MAX_RANGE_BLOCKS = 0xffff_ffffL;
    /** List identifiers of copies: they must differ within a nexus, and differ over all sessions of this process. */
    private static final AtomicInteger IDENTIFIERS = new AtomicInteger(
            ThreadLocalRandom.current().nextInt());

    private final ScsiUnit unit;
    private final Calls calls;

    Copies(ScsiUnit unit) {
        this.unit = unit;
        calls = unit.calls();
    }

    // --- EXTENDED COPY ---

    /** RECEIVE COPY OPERATING PARAMETERS (SPC-4 section 6.22.4): the limits of EXTENDED COPY. */
    public CopyOperatingParameters parameters() throws StorageException {
        return calls.ask(
                bytes -> new ReceiveCopyResults(ReceiveCopyResults.OPERATING_PARAMETERS, 0, bytes),
                FIRST_PARAMETERS_BYTES, MAX_PARAMETERS_BYTES, Lengths.in32(0, 4),
                CopyOperatingParameters::decode);
    }

    /**
     * EXTENDED COPY with a list identifier of one byte (SPC-5 section 6.4): by as many commands as necessary, in
     * sequence. The target identifies both units by their designators in VPD page 83h.
     *
     * @param destination a unit of the same target; this one for a copy within it
     * @return blocks copied: all
     * @throws NotSupportedException if the target does not support the copy, or a unit has no usable designator
     */
    public long extendedCopy(ScsiUnit destination, List<Segment> segments, LongConsumer progress)
            throws StorageException {
        int blockSize = commonBlockSize(destination);
        CopyOperatingParameters limits = parameters();
        List<CscdDescriptor> cscds = List.of(CscdDescriptor.disk(name(unit), blockSize),
                CscdDescriptor.disk(name(destination), blockSize));
        long done = 0;
        for (List<Segment> command : CopyPlan.of(segments, limits, blockSize)) {
            boolean unnamed = limits.withoutIdentifier();
            var list = new CopyParameterList(false,
                    unnamed ? 0 : IDENTIFIERS.incrementAndGet() & 0xff,
                    unnamed ? CopyParameterList.NO_IDENTIFIER : CopyParameterList.DISCARD, 0,
                    false, false, false, cscds,
                    command.stream().map(part -> new BlockCopySegment(false, false, 0, 1,
                            (int) part.blockCount(), part.sourceLba(), part.destinationLba()))
                            .toList());
            calls.send(new ExtendedCopy(false, list.bytes().length), list);
            done += command.stream().mapToLong(Segment::blockCount).sum();
            progress.accept(done);
        }
        return done;
    }

    /** Returns the best name that fits into a CSCD descriptor. */
    private static Designator name(ScsiUnit unit) throws StorageException {
        return unit.inquiry().designators().stream()
                .filter(it -> it.association() == Designator.Association.LOGICAL_UNIT
                        && it.identifier().content().length <= MAX_DESIGNATOR_BYTES
                        && rank(it.identifier()) >= 0)
                .min(Comparator.comparingInt(it -> rank(it.identifier())))
                .orElseThrow(() -> new NotSupportedException(
                        unit + " has no designator by which a copy could identify it", null));
    }

    private static int rank(Identifier identifier) {
        return switch (identifier) {
            case Naa _ -> 0;
            case Identifier.Eui64 _ -> 1;
            case Identifier.UuidName _ -> 2;
            case Identifier.T10VendorId _ -> 3;
            case Identifier.ScsiName _ -> 4;
            case Identifier.RelativeTargetPort _,Identifier.TargetPortGroup _,Identifier.LogicalUnitGroup _,Identifier.Other _ ->
                -1;
        };
    }

    private int commonBlockSize(ScsiUnit destination) throws StorageException {
        int blockSize = unit.blockSize();
        if (destination.blockSize() != blockSize) {
            throw new InvalidRequestException("cannot copy from " + unit + " to " + destination
                    + ": block sizes differ: " + blockSize + " and " + destination.blockSize()
                    + " bytes");
        }
        return blockSize;
    }

    // --- ROD tokens ---

    /**
     * POPULATE TOKEN and RECEIVE ROD TOKEN INFORMATION (SBC-4 sections 5.12 and 5.25): a token for blocks of this unit.
     *
     * @param ranges the blocks to represent, in this order; at least one range, none overlapping
     * @param inactivitySeconds time without use after which the token may expire; 0 for the target's default
     */
    public Token populateToken(List<BlockRange> ranges, long inactivitySeconds)
            throws StorageException {
        var list = new PopulateTokenList(false, inactivitySeconds, OptionalLong.empty(),
                ranges);
        long identifier = newIdentifier();
        var cdb = new PopulateToken(identifier, list.bytes().length, 0);
        calls.send(cdb, list);
        CopyOperationInformation end = new CopyWait(calls, cdb, identifier)
                .await(unit.blockSize(), _ -> {});
        Bytes token = end.token().filter(it -> it.length() == RodToken.LENGTH)
                .orElseThrow(() -> calls.nonsense(cdb, "no token returned", null));
        return new Token(token, CopyWait.blocks(end, unit.blockSize()));
    }

    /**
     * WRITE USING TOKEN (SBC-4 section 5.59): writes the data of a token to blocks of this unit. Waits for the end by
     * RECEIVE ROD TOKEN INFORMATION.
     *
     * @param offsetBlocks where to begin in the token's data
     * @param ranges where to write, in this order; at least one, none overlapping
     * @param deleteToken whether the target invalidates the token afterwards
     * @return blocks written, by the target's own count
     * @throws InvalidRequestException if the target does not take the token, or has revoked it
     */
    public long writeUsingToken(Token token, long offsetBlocks, List<BlockRange> ranges,
            boolean deleteToken, LongConsumer progress) throws StorageException {
        var list = new WriteUsingTokenList(true, deleteToken, offsetBlocks, token.bytes(), ranges);
        int blockSize = unit.blockSize();
        long identifier = newIdentifier();
        var cdb = new WriteUsingToken(identifier, list.bytes().length, 0);
        calls.send(cdb, list);
        return CopyWait.blocks(
                new CopyWait(calls, cdb, identifier).await(blockSize, progress), blockSize);
    }

    /**
     * Copies blocks by tokens, one per part of the optimal size for both units.
     *
     * @param destination a unit of the same target; this one for a copy within it
     * @return blocks copied: all
     * @throws NotSupportedException if a unit does not support tokens
     */
    public long offload(ScsiUnit destination, Segment segment, LongConsumer progress)
            throws StorageException {
        int blockSize = commonBlockSize(destination);
        long part = Math.min(tokenBlocks(unit, blockSize), tokenBlocks(destination, blockSize));
        long done = 0;
        while (done < segment.blockCount()) {
            long before = done;
            long count = Math.min(part, segment.blockCount() - done);
            Token token = populateToken(
                    List.of(new BlockRange(segment.sourceLba() + done, count)), 0);
            long usable = Math.min(count, token.blockCount());
            if (usable <= 0) {
                throw new NotSupportedException(unit + " reports a token size of 0 blocks", null);
            }
            long written = destination.copies().writeUsingToken(token, 0,
                    List.of(new BlockRange(segment.destinationLba() + done, usable)), true,
                    blocks -> progress.accept(before + Math.clamp(blocks, 0, usable)));
            if (written != usable) {
                throw new MediumException(destination + " has written " + written
                        + " blocks of a token for " + usable);
            }
            done += usable;
            progress.accept(done);
        }
        return done;
    }

    /** Returns the number of blocks for a token, by the third-party copy page (VPD page 8Fh). */
    private static long tokenBlocks(ScsiUnit unit, int blockSize) throws StorageException {
        Optional<Bytes> limits = unit.inquiry().find(ThirdPartyCopy.CODE, ThirdPartyCopy.class)
                .stream().flatMap(page -> page.descriptors().stream())
                .filter(it -> it.type() == BLOCK_TOKEN_LIMITS && it.content().length() >= 32)
                .map(ThirdPartyCopy.Descriptor::content).findFirst();
        if (limits.isEmpty()) {
            throw new NotSupportedException(unit + " does not support tokens", null);
        }
        long most = number(limits.get(), 16);
        long optimal = number(limits.get(), 24);
        long blocks = optimal > 0 ? optimal : Math.max(1, DEFAULT_TOKEN_BYTES / blockSize);
        return Math.min(MAX_RANGE_BLOCKS, most > 0 ? Math.min(blocks, most) : blocks);
    }

    private static long number(Bytes bytes, int at) {
        long number = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            number = number << Byte.SIZE | bytes.at(at + i);
        }
        return number;
    }

    private static long newIdentifier() { return IDENTIFIERS.incrementAndGet() & 0xffff_ffffL; }
}
