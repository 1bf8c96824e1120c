package lunar.scsi.target.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import lunar.scsi.copy.ExtendedCopy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CopyServiceTest {
    private static final String GREEDY = "iqn.2026-11.org.host:greedy";
    private static final String OTHER = "iqn.2026-11.org.host:other";

    @Test
    @Timeout(600)
    void shouldLimitOneInitiatorToHalfOfTheMemory() throws Exception {
        var copies = new CopyService();
        var borrowed = new ArrayList<MemorySegment>();
        var operation = new CopyOperation(ExtendedCopy.LID4, true);
        for (int i = 0; i < CopyService.MAX_OF_INITIATOR; i++) {
            borrowed.add(copies.borrow(operation, GREEDY));
        }
        var oneMore = new CopyOperation(ExtendedCopy.LID4, true);
        var outcome = new CompletableFuture<MemorySegment>();
        var waiting = new Thread(() -> {
            try {
                outcome.complete(copies.borrow(oneMore, GREEDY));
            } catch (CopyException | InterruptedException e) {
                outcome.completeExceptionally(e);
            }
        });
        waiting.start();
        for (int i = 0; i < CopyService.MAX_OF_INITIATOR; i++) {
            copies.giveBack(copies.borrow(operation, OTHER), OTHER);
        }
        oneMore.cancel();
        waiting.join();
        assertThatThrownBy(outcome::join).as("waited for memory of its own copies")
                .hasCauseInstanceOf(CopyException.class);

        copies.giveBack(borrowed.getFirst(), GREEDY);
        assertThat(copies.borrow(operation, GREEDY)).isNotNull();
    }
}
