package lunar.scsi.target;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.MalformedDataException;
import lunar.scsi.mode.ModePages;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.mode.ModeSelect;

/**
 * Mode pages of a logical unit, shared by all nexuses, and the store in which they are saved. Values that every command
 * reads are extracted when the pages change. Thread-safe.
 *
 * @param <V> values that a device type extracts from its pages; immutable
 */
public final class UnitModes<V> {
    private static final String STATE = "mode-pages";

    /** Mode pages and the values extracted from them. */
    private record Current<V>(ModePages pages, V values) {}

    private final StateStore store;
    private final Function<ModePages, V> extract;
    private final AtomicReference<Current<V>> current;

    /**
     * Loads the saved mode pages.
     *
     * @param unit name of the unit, for messages
     * @param defaults default values, if none were saved
     * @param extract extracts the values from the pages
     * @throws IOException if the saved state cannot be read, or is damaged
     */
    public UnitModes(String unit, ModePages defaults, StateStore store,
            Function<ModePages, V> extract)
            throws IOException {
        this.store = store;
        this.extract = extract;
        Optional<byte[]> saved = store.load(STATE);
        try {
            current = new AtomicReference<>(current(saved.isEmpty()
                    ? defaults
                    : defaults.restored(MemorySegment.ofArray(saved.get()))));
        } catch (MalformedDataException e) {
            throw new IOException(
                    "the saved mode pages of " + unit + " are damaged (" + e.getMessage()
                            + "); restore the state '" + STATE + "', or remove it to start without",
                    e);
        }
    }

    private Current<V> current(ModePages pages) {
        return new Current<>(pages, extract.apply(pages));
    }

    /** Returns the mode pages. */
    public ModePages pages() { return current.get().pages(); }

    /** Returns the values extracted from the pages. */
    public V values() {
        return current.get().values();
    }

    /**
     * Resets the unit: restores the saved values as current values (SPC-5 section 7.5.3).
     *
     * @return values extracted from the previous pages
     */
    public V reset() {
        return current.getAndUpdate(now -> current(now.pages().reset())).values();
    }

    /** Applies a MODE SELECT without SP; returns whether any value has changed. */
    public boolean change(ModeSelect command, MemorySegment data, ModeParameters.Blocks blocks)
            throws IllegalRequestException {
        while (true) {
            Current<V> before = current.get();
            ModePages after = before.pages().change(command, data, blocks);
            if (current.compareAndSet(before, current(after))) {
                return !after.sameValues(before.pages());
            }
        }
    }

    /** Like {@link #change}, but for a MODE SELECT with SP. Blocks. */
    public synchronized boolean changeAndSave(ModeSelect command, MemorySegment data,
            ModeParameters.Blocks blocks) throws IllegalRequestException, IOException {
        while (true) {
            Current<V> before = current.get();
            ModePages after = before.pages().change(command, data, blocks);
            store.save(STATE, after.savedPages());
            if (current.compareAndSet(before, current(after))) {
                return !after.sameValues(before.pages());
            }
        }
    }
}
