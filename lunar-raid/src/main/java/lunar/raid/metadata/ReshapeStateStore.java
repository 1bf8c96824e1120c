package lunar.raid.metadata;

import java.util.function.UnaryOperator;
import lunar.raid.Completion;
import lunar.raid.ReshapeState;
import lunar.raid.layout.Layout;
import lunar.raid.metadata.bitmap.BadBlocks;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.metadata.superblock.Superblocks;
import org.jspecify.annotations.Nullable;

/** Keeps in the superblocks how far a reshape is. */
final class ReshapeStateStore implements ReshapeState.Keeper {
    private final Superblocks superblocks;
    private final BadBlocks badBlocks;
    private final @Nullable IntentBitmap bitmap;

    private ReshapeStateStore(Superblocks superblocks, BadBlocks badBlocks,
            @Nullable IntentBitmap bitmap) {
        this.superblocks = superblocks;
        this.badBlocks = badBlocks;
        this.bitmap = bitmap;
    }

    /** Returns the state of a volume's reshape; null if it is not being reshaped. */
    static @Nullable ReshapeState of(Superblocks superblocks, BadBlocks badBlocks,
            @Nullable IntentBitmap bitmap) {
        VolumeRecord volume = superblocks.record();
        ReshapeRecord reshape = volume.reshape();
        VolumeDescription what = volume.description();
        return reshape == null
                ? null
                : new ReshapeState(reshape.slotsBefore(), reshape.rows(),
                        ReshapeRecord.stagingBlock(what), ReshapeRecord.stagingBlocks(what),
                        new ReshapeStateStore(superblocks, badBlocks, bitmap));
    }

    private void change(UnaryOperator<VolumeRecord> change, Completion done) {
        superblocks.change(change, done);
    }

    @Override
    public void staged(long rows, int staged, Completion done) {
        change(record -> {
            ReshapeRecord reshape = record.reshape();
            return reshape == null
                    ? record
                    : record.withReshape(new ReshapeRecord(reshape.slotsBefore(), rows, staged));
        }, done);
    }

    /** Notes that rows are in place: lost blocks there have content now. Copies are alike, and need no bits. */
    @Override
    public void moved(long from, long end, Completion done) {
        if (bitmap != null && superblocks.record().description().level().hasParity()) {
            bitmap.written(from, end - from);
        }
        int chunk = superblocks.record().description().chunkBlocks();
        badBlocks.removeBlocks(from * chunk, end * chunk, why -> {
            if (why != null) {
                done.completed(why);
            } else {
                change(record -> {
                    ReshapeRecord reshape = record.reshape();
                    return reshape == null ? record : record.withReshape(reshape.moved(end));
                }, done);
            }
        });
    }

    @Override
    public void finished(Completion done) {
        change(record -> {
            VolumeDescription what = record.description();
            long blocks = Layout.of(record.shape()).volumeBlocks();
            return record.withDescription(what.grown(what.slots(), blocks)).withReshape(null);
        }, done);
    }
}
