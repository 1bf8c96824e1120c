package lunar.raid.run;

/** What a person wants of a volume whose journal is on a device that is lost. */
public enum LostJournal {
    /** To be told: the volume does not start. */
    REFUSE("no"),
    /** It goes on without a journal, with its intent bitmap alone. */
    DROP("drop"),
    /** The device that is named for the journal gets a new one. */
    RENEW("renew");

    private final String word;

    LostJournal(String word) { this.word = word; }

    /**
     * By its word in a URI.
     *
     * @throws IllegalArgumentException with one line for the person who wrote it
     */
    public static LostJournal parse(String text) {
        for (LostJournal one : values()) {
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
