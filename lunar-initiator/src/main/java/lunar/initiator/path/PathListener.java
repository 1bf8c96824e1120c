package lunar.initiator.path;

/** Hears what happens to paths. Called on a thread of the path, in its order; it should not block for long. */
@FunctionalInterface
public interface PathListener {
    void changed(PathEvent event);
}
