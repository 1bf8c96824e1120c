package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import lunar.scsi.target.AbsentDeviceServer;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

class TaskTableTest {
    private static final int STEPS = 20_000;

    @Test
    void shouldBeLikeAMap() {
        long seed = Seed.next();
        var random = new Random(seed);
        for (int shift : new int[]{0, 16, 24}) { // hosts count in low bits, in high ones, or scatter their tags
            var table = new TaskTable();
            Map<Integer, Task> model = new HashMap<>();
            for (int i = 0; i < STEPS; i++) {
                Task task = task(random.nextInt(200) << shift ^ random.nextInt(2) << 31);
                if (model.containsKey(task.itt)) {
                    table.remove(task); // another one of this tag: nothing happens
                    assertThat(table.find(task.itt)).as("seed %d", seed)
                            .isSameAs(model.get(task.itt));
                    table.remove(model.remove(task.itt));
                } else if (random.nextInt(3) > 0) {
                    table.add(task);
                    model.put(task.itt, task);
                }
                assertThat(table.find(task.itt)).as("seed %d", seed)
                        .isSameAs(model.get(task.itt));
                assertThat(table.isEmpty()).isEqualTo(model.isEmpty());
            }
            assertThat(table.all()).as("seed %d", seed)
                    .containsExactlyInAnyOrderElementsOf(model.values());
            model.forEach((itt, task) -> assertThat(table.find(itt)).isSameAs(task));
        }
    }

    private static Task task(int itt) {
        var task = new Task(null, new AbsentDeviceServer());
        task.itt = itt;
        return task;
    }
}
