package lunar.it.faults;

/** A fault that could lose acknowledged writes, run with real processes. */
interface Scenario {
    /** Returns its name on the command line, one word. */
    String name();

    /** Returns a description of one line. */
    String about();

    /**
     * Plays it.
     *
     * @param times how often the fault happens
     * @return what was done, for the report
     * @throws Throwable where an acknowledged write was lost, or the scenario could not be played
     */
    String play(Lab lab, int times) throws Exception;

    /** Why it cannot be played here; empty if it can. */
    default String missing() { return ""; }
}
