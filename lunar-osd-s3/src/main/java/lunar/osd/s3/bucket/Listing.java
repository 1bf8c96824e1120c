package lunar.osd.s3.bucket;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;

/**
 * A part of the list of keys.
 *
 * @param objects keys that no common prefix stands for
 * @param commonPrefixes what keys have in common up to the delimiter
 * @param truncated whether there is more
 * @param last the last key or common prefix; empty if there is none
 */
public record Listing(List<Item> objects, List<String> commonPrefixes, boolean truncated,
        String last) {
    /** A key with its object. */
    public record Item(String key, long length, long modifiedMs, String etag) {}

    /**
     * Selection and form of a list.
     *
     * @param prefix how keys begin
     * @param delimiter text up to which keys with it behind the prefix are summed up; empty for none
     * @param after key or common prefix behind which the list begins; empty for the first
     * @param max most keys and common prefixes
     */
    public record Request(String prefix, String delimiter, String after, int max) {}

    public Listing {
        objects = List.copyOf(objects);
        commonPrefixes = List.copyOf(commonPrefixes);
    }

    static Listing of(NavigableMap<String, KeyIndex.Entry> keys, Request request) {
        var objects = new ArrayList<Item>();
        var prefixes = new ArrayList<String>();
        String last = "";
        Map.Entry<String, KeyIndex.Entry> next = first(keys, request);
        while (next != null && next.getKey().startsWith(request.prefix())) {
            if (objects.size() + prefixes.size() == request.max()) {
                return new Listing(objects, prefixes, request.max() > 0, last);
            }
            String key = next.getKey();
            String common = commonPrefix(key, request);
            if (common.isEmpty()) {
                KeyIndex.Entry entry = next.getValue();
                objects.add(new Item(key, entry.length(), entry.modifiedMs(), entry.etag()));
                last = key;
                next = keys.higherEntry(key);
            } else {
                prefixes.add(common);
                last = common;
                next = keys.ceilingEntry(KeyOrder.behind(common));
            }
        }
        return new Listing(objects, prefixes, false, last);
    }

    private static Map.Entry<String, KeyIndex.Entry> first(
            NavigableMap<String, KeyIndex.Entry> keys, Request request) {
        String after = request.after();
        if (KeyOrder.INSTANCE.compare(after, request.prefix()) < 0) {
            return keys.ceilingEntry(request.prefix());
        }
        if (after.isEmpty()) {
            return keys.firstEntry();
        }
        boolean isCommonPrefix = after.startsWith(request.prefix())
                && commonPrefix(after, request).equals(after);
        return isCommonPrefix ? keys.ceilingEntry(KeyOrder.behind(after)) : keys.higherEntry(after);
    }

    private static String commonPrefix(String key, Request request) {
        if (request.delimiter().isEmpty()) {
            return "";
        }
        int at = key.indexOf(request.delimiter(), request.prefix().length());
        return at < 0 ? "" : key.substring(0, at + request.delimiter().length());
    }
}
