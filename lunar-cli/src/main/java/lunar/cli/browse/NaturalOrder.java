package lunar.cli.browse;

import java.util.Comparator;

/** Order of names for people: regardless of case, and numbers by their value, so that file2 precedes file10. */
final class NaturalOrder implements Comparator<String> {
    static final NaturalOrder INSTANCE = new NaturalOrder();

    private NaturalOrder() {}

    @Override
    public int compare(String a, String b) {
        int i = 0;
        int j = 0;
        while (i < a.length() && j < b.length()) {
            int endA = numberEnd(a, i);
            int endB = numberEnd(b, j);
            int order;
            if (endA > i && endB > j) {
                order = compareNumbers(a.substring(i, endA), b.substring(j, endB));
            } else {
                endA = i + 1;
                endB = j + 1;
                order = Character.compare(folded(a.charAt(i)), folded(b.charAt(j)));
            }
            if (order != 0) {
                return order;
            }
            i = endA;
            j = endB;
        }
        return Integer.compare(a.length() - i, b.length() - j);
    }

    private static int numberEnd(String text, int from) {
        int end = from;
        while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
            end++;
        }
        return end;
    }

    /** By value, of any length. */
    private static int compareNumbers(String a, String b) {
        String valueA = a.replaceFirst("^0+", "");
        String valueB = b.replaceFirst("^0+", "");
        return valueA.length() == valueB.length()
                ? valueA.compareTo(valueB)
                : Integer.compare(valueA.length(), valueB.length());
    }

    private static char folded(char c) { return Character.toLowerCase(Character.toUpperCase(c)); }
}
