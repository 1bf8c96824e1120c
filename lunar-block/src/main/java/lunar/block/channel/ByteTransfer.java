package lunar.block.channel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.AsynchronousCloseException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import lunar.block.BlockRequest;
import lunar.block.InvalidRequestException;
import org.jspecify.annotations.Nullable;

/** A queued transfer of bytes, driven by the completions of its requests, without a thread of its own. */
final class ByteTransfer {
    private final ByteAccess access;
    private final MemorySegment buffer;
    private final List<BytePiece> pieces;
    private final BooleanSupplier open;
    private final ByteAccess.Ending ending;
    private final AtomicInteger left;
    /** The first failure of a request. */
    private final AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
    /** Blocks that a write holds until it completes. */
    private WriteRanges.@Nullable Range range;

    ByteTransfer(ByteAccess access, MemorySegment buffer, List<BytePiece> pieces,
            BooleanSupplier open, ByteAccess.Ending ending) {
        this.access = access;
        this.buffer = buffer;
        this.pieces = pieces;
        this.open = open;
        this.ending = ending;
        this.left = new AtomicInteger(pieces.size());
    }

    void read() { pieces.forEach(this::read); }

    /** Waits until it holds the blocks, then writes. */
    void write(boolean fua) {
        BytePiece last = pieces.getLast();
        var wanted = new WriteRanges.Range(pieces.getFirst().lba(), last.lba() + last.blockCount(),
                () -> pieces.forEach(piece -> write(piece, fua)));
        range = wanted;
        if (access.ranges().acquire(wanted)) {
            wanted.held();
        }
    }

    private void read(BytePiece piece) {
        if (piece.isWhole(access.device().blockSize())) {
            submit(new BlockRequest().asRead(piece.lba(), piece.blockCount(), part(piece)),
                    () -> ended(null));
        } else {
            readBlocks(piece, blocks -> ended(
                    copy(blocks.asSlice(piece.skip(), piece.length()), part(piece))));
        }
    }

    private void write(BytePiece piece, boolean fua) {
        if (piece.isWhole(access.device().blockSize())) {
            writeBlocks(piece, part(piece), fua);
            return;
        }
        readBlocks(piece, blocks -> {
            var failed = copy(part(piece), blocks.asSlice(piece.skip(), piece.length()));
            if (failed == null) {
                writeBlocks(piece, blocks, fua);
            } else {
                ended(failed);
            }
        });
    }

    private void readBlocks(BytePiece piece, Consumer<MemorySegment> next) {
        MemorySegment blocks = access.blocks(piece.blockCount());
        submit(new BlockRequest().asRead(piece.lba(), piece.blockCount(), blocks),
                () -> next.accept(blocks));
    }

    private void writeBlocks(BytePiece piece, MemorySegment blocks, boolean fua) {
        submit(new BlockRequest().asWrite(piece.lba(), piece.blockCount(), blocks, fua),
                () -> ended(null));
    }

    private MemorySegment part(BytePiece piece) {
        return buffer.asSlice(piece.offset(), piece.length());
    }

    /** Submits a request. Its failure is the end of its piece; what comes after its success is said. */
    private void submit(BlockRequest request, Runnable next) {
        if (!open.getAsBoolean()) {
            ended(new AsynchronousCloseException());
            return;
        }
        access.window().submit(request, (_, failed) -> {
            if (failed == null) {
                next.run();
            } else {
                ended(failed);
            }
        });
    }

    /** The caller's memory may be gone, or belong to another thread only: that is the caller's failure. */
    private static @Nullable InvalidRequestException copy(MemorySegment from, MemorySegment to) {
        try {
            to.copyFrom(from);
            return null;
        } catch (IllegalStateException | WrongThreadException e) {
            return new InvalidRequestException("the buffer cannot be used: " + e.getMessage(), e);
        }
    }

    /** A piece has ended; with the last one the transfer has. */
    private void ended(@Nullable IOException failed) {
        if (failed != null) {
            failure.compareAndSet(null, failed);
        }
        if (left.decrementAndGet() > 0) {
            return;
        }
        WriteRanges.Range had = range;
        if (had != null) {
            access.ranges().release(had);
        }
        IOException first = failure.get();
        ending.ended(first == null && !open.getAsBoolean()
                ? new AsynchronousCloseException()
                : first);
    }
}
