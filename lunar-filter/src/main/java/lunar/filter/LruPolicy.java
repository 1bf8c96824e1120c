package lunar.filter;

/** Evicts the least recently used page. */
final class LruPolicy implements CachePolicy {
    private final SlotQueue queue;

    LruPolicy(int slots) { queue = new SlotQueue(new SlotQueue.Links(slots)); }

    @Override
    public void added(int slot, long page) { queue.add(slot); }

    @Override
    public void used(int slot) {
        queue.remove(slot);
        queue.add(slot);
    }

    @Override
    public void removed(int slot) { queue.remove(slot); }

    @Override
    public int evict() {
        int slot = queue.oldest();
        queue.remove(slot);
        return slot;
    }

    @Override
    public String toString() { return "lru"; }
}
