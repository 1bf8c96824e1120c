package lunar.raid.service;

/** The operator's choice for a volume that has lost the device of its journal. */
public enum LostJournalPolicy {
    /** Refuses: the volume does not start. */
    REFUSE("no"),
    /** The volume goes on without a journal, with its intent bitmap alone. */
    DROP("drop"),
    /** The device that is named for the journal gets a new journal. */
    RENEW("renew");

    private final String word;

    LostJournalPolicy(String word) { this.word = word; }

    /**
     * Parses the word in a URI.
     *
     * @throws IllegalArgumentException with one line for the operator
     */
    public static LostJournalPolicy parse(String text) {
        for (LostJournalPolicy one : values()) {
            if (one.word.equals(text)) {
                return one;
            }
        }
        throw new IllegalArgumentException(
                "lost-journal=" + text + " is not one of no, drop, renew");
    }

    @Override
    public String toString() { return word; }
}
