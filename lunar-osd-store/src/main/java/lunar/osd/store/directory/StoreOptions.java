package lunar.osd.store.directory;

/**
 * How a store is opened.
 *
 * @param create whether a store is created if the directory is empty or does not exist
 * @param everyChange whether every change and every write is on stable storage when its method returns; otherwise only
 *        a flush makes changes stable
 */
public record StoreOptions(boolean create, boolean everyChange) {
    /** Opens a store that exists; a flush makes changes stable. */
    public static final StoreOptions EXISTING = new StoreOptions(false, false);
    /** Creates a store where there is none; a flush makes changes stable. */
    public static final StoreOptions CREATE = new StoreOptions(true, false);

    /** Returns these options with every change made stable. */
    public StoreOptions withEveryChangeStable() {
        return new StoreOptions(create, true);
    }
}
