package lunar.raid.metadata.page;

import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;

/**
 * A request that is sent in as many pieces as its device takes at once, one after the other: a write of the journal is
 * as long as the members take that had copies when the volume was opened, and another one may take less. A write of
 * metadata may be torn at any block, so it may be torn between pieces. The owner's lock guards it.
 */
final class RequestPieces {
    private final BlockRequest whole;
    private final BlockRequest piece;
    private long done;

    /**
     * @param whole what is to be done; it may become another request before each {@link #begin}
     * @param completion told of each piece
     */
    RequestPieces(BlockRequest whole, BlockRequest.Completion completion) {
        this.whole = whole;
        piece = new BlockRequest().onCompletion(completion);
    }

    void begin() { done = 0; }

    /** Returns the request to send next: mostly all of it. */
    BlockRequest next(BlockDevice device) {
        int most = device.limits().maxTransferBlocks();
        if (whole.operation() != Operation.WRITE || whole.blockCount() <= most) {
            return whole;
        }
        long count = Math.min(most, whole.blockCount() - done);
        int blockSize = device.blockSize();
        return piece.asWrite(whole.lba() + done, count,
                whole.buffer().asSlice(done * blockSize, count * blockSize), whole.fua());
    }

    /** Counts a request that has ended; returns whether another one is to follow. */
    boolean hasNextAfter(BlockRequest ended) {
        done += ended.blockCount();
        return done < whole.blockCount();
    }
}
