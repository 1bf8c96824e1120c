package lunar.osd.store;

import lunar.osd.store.memory.MemoryStore;

/** Creates and opens object stores. */
public final class ObjectStores {
    private ObjectStores() {}

    /** Returns an empty store in the heap; its objects are lost when it is closed. */
    public static ObjectStore inMemory() {
        return new MemoryStore();
    }
}
