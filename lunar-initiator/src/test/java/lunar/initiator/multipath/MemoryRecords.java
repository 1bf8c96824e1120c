package lunar.initiator.multipath;

import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import lunar.block.ConnectionRecords;

/** The record of one unit, in memory. */
final class MemoryRecords implements ConnectionRecords {
    volatile Optional<String> text = Optional.empty();
    /** Whether nothing can be stored. */
    boolean isFull;
    int stored;
    /** Run before something is stored. */
    Runnable beforeStoring = () -> {};

    @Override
    public Optional<String> find(String name) { return text; }

    @Override
    public void keep(String name, String value) throws IOException { store(Optional.of(value)); }

    @Override
    public void remove(String name) throws IOException { store(Optional.empty()); }

    private void store(Optional<String> value) throws IOException {
        beforeStoring.run();
        if (isFull) {
            throw new IOException("no space");
        }
        text = value;
        stored++;
    }

    /** Has another process left what is recorded. */
    void age() {
        text = text.map(all -> all.replaceAll("(?m)^\\S+ ", UUID.randomUUID() + " "));
    }
}
