package lunar.raid.service;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lunar.raid.metadata.Candidate;

/** Examines devices that may belong to volumes, without running any. */
public final class MemberSearch {
    private MemberSearch() {}

    /** Examines these devices, which are opened concurrently and closed again. Blocks. */
    public static List<Candidate> look(List<String> uris, MemberOpener opener) {
        try (ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<CandidateSearch.Found> found = CandidateSearch.open(uris, opener,
                    RunTiming.DEFAULT,
                    workers);
            found.forEach(CandidateSearch.Found::close);
            return found.stream().map(one -> one.candidate).toList();
        }
    }
}
