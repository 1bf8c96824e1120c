package lunar.raid.run;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lunar.raid.meta.Candidate;

/** Looks at devices that may belong to volumes, without running any. */
public final class MemberSearch {
    private MemberSearch() {}

    /** What is on these devices, which are opened side by side and closed again. Blocks. */
    public static List<Candidate> look(List<String> uris, MemberOpener opener) {
        try (ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Candidates.Found> found = Candidates.open(uris, opener, RunTiming.DEFAULT,
                    workers);
            found.forEach(Candidates.Found::close);
            return found.stream().map(one -> one.candidate).toList();
        }
    }
}
