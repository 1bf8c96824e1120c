package lunar.scsi.target;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.MalformedDataException;
import lunar.scsi.mode.ModePages;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.mode.ModeSelect;
import org.jspecify.annotations.Nullable;

/**
 * Mode pages of a logical unit, shared by all nexuses, and the store in which they are saved. Values that every command
 * reads are extracted when the pages change. Servers that share the unit share current and saved values, because a host
 * that has switched the write cache off over one path relies on it over all. Thread-safe.
 *
 * @param <V> values that a device type extracts from its pages; immutable
 */
public final class UnitModes<V> {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final String STATE = "mode-pages";

    /** Mode pages and the values extracted from them. */
    private record Current<V>(ModePages pages, V values) {}

    /**
     * Outcome of a change.
     *
     * @param changed whether any current value has changed
     * @param overtaken whether another server has changed the pages since, so that the nexus that asked does not know
     *        their values either
     */
    public record Outcome(boolean changed, boolean overtaken) {
        private static final Outcome NONE = new Outcome(false, false);
    }

    private final UnitState<Current<V>> state;
    private final Function<ModePages, V> extract;

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
        this.extract = extract;
        state = new UnitState<>(store, STATE, current(defaults),
                format(unit, defaults, store.isShared()));
    }

    private UnitState.Format<Current<V>> format(String unit, ModePages defaults, boolean shared) {
        return new UnitState.Format<>() {
            @Override
            public byte[] encode(Current<V> current) {
                return shared
                        ? current.pages().savedAndCurrentPages()
                        : current.pages().savedPages();
            }

            @Override
            public Current<V> decode(byte[] saved) throws IOException {
                try {
                    ModePages pages = defaults.restored(MemorySegment.ofArray(saved));
                    return current(shared ? pages : pages.reset());
                } catch (MalformedDataException e) {
                    throw new IOException("the saved mode pages of " + unit + " are damaged ("
                            + e.getMessage() + "); restore the state '" + STATE
                            + "', or remove it to start without", e);
                }
            }
        };
    }

    private Current<V> current(ModePages pages) {
        return new Current<>(pages, extract.apply(pages));
    }

    /**
     * Begins to follow the changes of other servers, of which all nexuses of the unit here are told.
     *
     * @param effect acts on what was taken out of the pages before and after a change of values; ends when it has
     * @throws IOException when the pages cannot be read
     */
    public void begin(LogicalUnit unit, BiFunction<V, V, CompletableFuture<Void>> effect)
            throws IOException {
        state.begin(new UnitState.Follower<>() {
            @Override
            public CompletableFuture<Void> follow(Current<V> before, Current<V> after) {
                if (after.pages().sameValues(before.pages())) {
                    return CompletableFuture.completedFuture(null);
                }
                unit.establish(AdditionalSense.MODE_PARAMETERS_CHANGED);
                return effect.apply(before.values(), after.values());
            }
        });
    }

    /** Follows no more changes of other servers. */
    public void end() { state.end(); }

    /** Whether other servers change the pages, too: every change then blocks. */
    public boolean isShared() {
        return state.isShared();
    }

    /** The pages. */
    public ModePages pages() { return state.value().pages(); }

    /** Returns the values extracted from the pages. */
    public V values() {
        return state.value().values();
    }

    /** Whether this is so by the pages, or by others that other servers may act by already: commands obey both. */
    public boolean isAny(Predicate<V> so) {
        UnitState.View<Current<V>> now = state.view();
        Current<V> proposed = now.proposed();
        return so.test(now.value().values()) || (proposed != null && so.test(proposed.values()));
    }

    /**
     * Resets the unit: the saved values are the current ones again (SPC-5 section 7.5.3). Does not block.
     *
     * @return what was taken out of the pages before; at once, or where servers share the pages, when all have reset
     *         them; exceptionally where they cannot be told
     */
    public CompletableFuture<V> reset() {
        if (!isShared()) {
            var made = state.changeUnsaved(now -> current(now.pages().reset()));
            return CompletableFuture
                    .completedFuture(Objects.requireNonNull(made).before().values());
        }
        var before = new CompletableFuture<V>();
        Thread.ofVirtual().name("lunar-reset").start(() -> {
            try {
                var made = save(ModePages::reset, false);
                before.complete(made == null ? values() : made.before().values());
            } catch (StorageException | IllegalRequestException | RuntimeException e) {
                LOG.log(System.Logger.Level.WARNING, "mode pages are not reset: {0}",
                        e.getMessage());
                before.completeExceptionally(e);
            }
        });
        return before;
    }

    /** Decides on a change of the pages. */
    @FunctionalInterface
    private interface Step {
        ModePages after(ModePages before) throws IllegalRequestException;
    }

    private UnitState.@Nullable Change<Current<V>> save(Step step, boolean saves)
            throws StorageException, IllegalRequestException {
        UnitState.Step<Current<V>, IllegalRequestException> decision = before -> {
            ModePages after = step.after(before.pages());
            return saves || isShared() || !after.sameValues(before.pages())
                    ? current(after)
                    : null;
        };
        if (!saves && !isShared()) {
            return state.changeUnsaved(decision);
        }
        try {
            return state.change(decision, (_, _) -> saves);
        } catch (StorageException | IllegalRequestException e) {
            throw e;
        } catch (IOException e) {
            throw new DeviceGoneException("mode pages cannot be saved: " + e.getMessage(), e);
        }
    }

    /**
     * Obeys a MODE SELECT. Blocks where that saves the pages, or servers share them.
     *
     * @throws StorageException when the pages cannot be saved, or servers that share them cannot be told
     */
    public Outcome change(ModeSelect command, MemorySegment data, ModeParameters.Blocks blocks)
            throws IllegalRequestException, StorageException {
        var made = save(before -> before.change(command, data, blocks), command.savePages());
        return made == null
                ? Outcome.NONE
                : new Outcome(!made.after().pages().sameValues(made.before().pages()),
                        made.overtaken());
    }
}
