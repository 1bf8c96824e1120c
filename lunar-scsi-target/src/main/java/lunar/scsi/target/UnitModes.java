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
 * The mode pages of a logical unit, which all nexuses share, and where they are saved. What commands look at each time
 * is taken out of the pages when these change. Thread-safe.
 *
 * @param <V> what a device type takes out of its pages; immutable
 */
public final class UnitModes<V> {
    private static final String STATE = "mode-pages";

    /** The pages, and what they say to commands. */
    private record Current<V>(ModePages pages, V values) {}

    private final StateStore store;
    private final Function<ModePages, V> extract;
    private final AtomicReference<Current<V>> current;

    /**
     * The pages as they were saved.
     *
     * @param unit name of the unit, for messages
     * @param defaults the default values, where none were saved
     * @param extract what to take out of the pages
     * @throws IOException when what was saved cannot be read, or is damaged
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

    /** The pages. */
    public ModePages pages() { return current.get().pages(); }

    /** What was taken out of the pages. */
    public V values() { return current.get().values(); }

    /**
     * Resets the unit: the saved values are the current ones again (SPC-5 section 7.5.3).
     *
     * @return what was taken out of the pages before
     */
    public V reset() {
        return current.getAndUpdate(now -> current(now.pages().reset())).values();
    }

    /** Obeys a MODE SELECT that saves nothing; returns whether any value has changed. */
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

    /** Like {@link #change}, but for a MODE SELECT that saves. Blocks. */
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
