package lunar.osd.store.memory;

import java.lang.foreign.MemorySegment;
import lunar.block.NoSpaceException;
import lunar.osd.store.StagedData;

/** Staged data of a store in memory. */
final class MemoryStagedData implements StagedData {
    private final MemoryData data = new MemoryData();
    private boolean taken;

    @Override
    public void write(long offset, MemorySegment from) throws NoSpaceException {
        requireOwn();
        data.write(offset, from);
    }

    @Override
    public long length() { return data.length(); }

    /** Gives the data to an object. */
    MemoryData take() {
        requireOwn();
        taken = true;
        return data;
    }

    private void requireOwn() {
        if (taken) {
            throw new IllegalStateException("an object has these data");
        }
    }

    /** Takes the data back, because the change is undone. */
    void giveBack() { taken = false; }

    @Override
    public void close() {}
}
