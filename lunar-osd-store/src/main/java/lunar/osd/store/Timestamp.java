package lunar.osd.store;

/** Times that a store keeps of each object, in milliseconds since 1970 UTC; 0 for never. */
public enum Timestamp {
    CREATED, ATTRIBUTES_ACCESSED, ATTRIBUTES_MODIFIED, DATA_ACCESSED, DATA_MODIFIED
}
