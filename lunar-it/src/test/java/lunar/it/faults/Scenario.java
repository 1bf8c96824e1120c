package lunar.it.faults;

/** A way in which acknowledged writes could be lost, played with real processes. */
interface Scenario {
    /** One word for the command line. */
    String name();

    /** What happens in it, in a line. */
    String about();

    /**
     * Plays it.
     *
     * @param times how often the fault happens
     * @return what was done, for the report
     * @throws Throwable where an acknowledged write was lost, or the scenario could not be played
     */
    String play(Lab lab, int times) throws Exception;

    /** Why it cannot be played here; empty where it can. */
    default String missing() { return ""; }
}
