package lunar.osd.s3.bucket;

import java.util.Comparator;

/** The order of keys in lists: by the bytes of their UTF-8, which is the order of code points. */
enum KeyOrder implements Comparator<String> {
    INSTANCE;

    @Override
    public int compare(String left, String right) {
        int end = Math.min(left.length(), right.length());
        for (int i = 0; i < end; i++) {
            char a = left.charAt(i);
            char b = right.charAt(i);
            if (a != b) {
                // Surrogates stand for code points above all others.
                boolean highA = Character.isSurrogate(a);
                boolean highB = Character.isSurrogate(b);
                return highA == highB ? Character.compare(a, b) : highA ? 1 : -1;
            }
        }
        return Integer.compare(left.length(), right.length());
    }

    /** Returns the first text behind all that begin with a prefix, which is not empty. */
    static String behind(String prefix) {
        int last = prefix.codePointBefore(prefix.length());
        String before = prefix.substring(0, prefix.length() - Character.charCount(last));
        if (last == Character.MAX_CODE_POINT) {
            return before.isEmpty() ? prefix + Character.toString(last) : behind(before);
        }
        int next = last + 1;
        return before + Character.toString(Character.isBmpCodePoint(next)
                && Character.isSurrogate((char) next) ? Character.MAX_SURROGATE + 1 : next);
    }
}
