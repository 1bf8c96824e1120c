package lunar.osd.target.command;

import java.util.List;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.AdditionalSense;

/**
 * Limits of the device.
 *
 * @param maxTransferBytes most bytes of data-out and of data-in of a command
 */
public record OsdLimits(int maxTransferBytes) {
    /** Longest CDB continuation segment, in bytes. */
    public static final int MAX_CONTINUATION = 64 << 10;
    /** Longest get attributes list, in bytes. */
    public static final int MAX_GET_LIST = 256 << 10;
    /** Longest set attributes list, in bytes. */
    public static final int MAX_SET_LIST = 1 << 20;
    /** Most user objects that a CREATE creates. */
    public static final int MAX_CREATED = 4096;
    /** Most bytes of attributes that a CREATE sets, those of all its objects together. */
    public static final int MAX_CREATED_ATTRIBUTES = 64 << 20;
    /** Most bytes of get attributes lists of a CREATE, its list counted for each of its objects. */
    public static final int MAX_CREATED_GET_LISTS = 2 << 20;
    /** Most searches of all pages of an object for a number, those of all objects of a CREATE together. */
    public static final int MAX_SEARCHES = 16;
    /** Most objects that a command looks at in one query, or changes at once. */
    public static final int BATCH = 1024;
    /** Most members that a command adds to a collection, in one change of the store, in memory until its end. */
    public static final int MAX_ADDED = 256 << 10;
    /** Lists of which the device remembers whether they have changed. */
    public static final int MAX_LISTS = 1024;
    /** Fewest threads that run commands. */
    public static final int MIN_THREADS = 8;
    /** Most commands that wait for a thread; further ones end with BUSY. */
    public static final int MAX_WAITING = 1024;
    /** Objects whose settings are cached. */
    public static final int MAX_CACHED_SETTINGS = 4096;

    /** Refuses a command that would add too many members to a collection at once. */
    static void checkAdded(long members) throws RefusedException {
        if (members > MAX_ADDED) {
            throw RefusedException.illegal(AdditionalSense.INSUFFICIENT_RESOURCES);
        }
    }

    /**
     * Refuses to search all attributes too often: what is not found fills no reply.
     *
     * @param objects how many objects are searched in one change of the store
     */
    static void checkSearches(List<AttributeId> gets, long objects) throws RefusedException {
        long searches = gets.stream().filter(id -> id.page() == AttributeId.ALL_PAGES
                && id.number() != AttributeId.ALL_NUMBERS).count();
        if (searches * objects > MAX_SEARCHES) {
            throw RefusedException.illegal(AdditionalSense.INSUFFICIENT_RESOURCES);
        }
    }

    /** Returns how much of an allocation length, which is unsigned, a reply may fill. */
    long allocation(long length) {
        return length < 0 ? maxTransferBytes : Math.min(length, maxTransferBytes);
    }
}
