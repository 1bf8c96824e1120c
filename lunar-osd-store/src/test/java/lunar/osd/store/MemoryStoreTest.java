package lunar.osd.store;

/** Tests the store in memory. */
class MemoryStoreTest extends ObjectStoreContract {
    @Override
    ObjectStore create() { return ObjectStores.inMemory(); }
}
