package lunar.raid.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Golden placements are those of Linux md (drivers/md/raid5.c, raid10.c), written down row by row. */
class LayoutTest {
    private static Layout layout(Level level, int members, int rows) {
        return Layout.of(Shape.of(level, 512, 8, members, 8L * rows));
    }

    /** The content of each slot in each row: chunk numbers of the volume, P or Q, '-' for nothing. */
    private static String picture(Layout layout) {
        Shape shape = layout.shape();
        int rows = (int) shape.chunks(0);
        var cells = new String[rows][shape.members()];
        for (long stripe = 0; stripe < layout.stripes(); stripe++) {
            for (int unit = 0; unit < layout.units(); unit++) {
                boolean copy = layout.code() == Code.COPIES;
                String name = unit < layout.dataUnits() || copy
                        ? "" + (stripe * layout.dataUnits() + (copy ? 0 : unit))
                        : unit == layout.dataUnits() ? "P" : "Q";
                int row = (int) layout.memberBlock(stripe, unit) / 8;
                int slot = layout.slot(stripe, unit);
                assertThat(cells[row][slot]).as("twice in row %d slot %d", row, slot).isNull();
                assertThat(layout.unit(stripe, slot)).isEqualTo(unit);
                cells[row][slot] = name;
            }
        }
        var picture = new StringBuilder();
        for (String[] row : cells) {
            for (String cell : row) {
                picture.append(cell == null ? "-" : cell).append(' ');
            }
            picture.append('|');
        }
        return picture.toString();
    }

    @Test
    void shouldRotateParityLeftSymmetricAsMdDoes() {
        assertThat(picture(layout(Level.RAID5, 4, 5))).isEqualTo(
                "0 1 2 P |4 5 P 3 |8 P 6 7 |P 9 10 11 |12 13 14 P |");
        assertThat(picture(layout(Level.RAID5, 3, 4))).isEqualTo("0 1 P |3 P 2 |P 4 5 |6 7 P |");
    }

    @Test
    void shouldRotateBothParitiesLeftSymmetricAsMdDoes() {
        assertThat(picture(layout(Level.RAID6, 5, 6))).isEqualTo(
                "Q 0 1 2 P |3 4 5 P Q |7 8 P Q 6 |11 P Q 9 10 |P Q 12 13 14 |Q 15 16 17 P |");
        assertThat(picture(layout(Level.RAID6, 4, 2))).isEqualTo("Q 0 1 P |2 3 P Q |");
    }

    @Test
    void shouldPutTwoCopiesNearEachOtherAsMdDoes() {
        assertThat(picture(layout(Level.RAID10, 4, 2))).isEqualTo("0 0 1 1 |2 2 3 3 |");
        assertThat(picture(layout(Level.RAID10, 3, 4)))
                .isEqualTo("0 0 1 |1 2 2 |3 3 4 |4 5 5 |");
        assertThat(picture(layout(Level.RAID10, 3, 3))).isEqualTo("0 0 1 |1 2 2 |3 3 - |");
    }

    @Test
    void shouldStripeAndMirrorAndConcatenate() {
        assertThat(picture(layout(Level.RAID0, 3, 2))).isEqualTo("0 1 2 |3 4 5 |");
        assertThat(picture(layout(Level.RAID1, 3, 2))).isEqualTo("0 0 0 |1 1 1 |");
        Layout linear = Layout.of(new Shape(Level.LINEAR, 512, 8, List.of(17L, 8L, 31L)));
        assertThat(linear.volumeBlocks()).isEqualTo((2 + 1 + 3) * 8);
        assertThat(linear.slot(1, 0)).isEqualTo(0);
        assertThat(linear.slot(2, 0)).isEqualTo(1);
        assertThat(linear.memberBlock(2, 0)).isZero();
        assertThat(linear.slot(5, 0)).isEqualTo(2);
        assertThat(linear.memberBlock(5, 0)).isEqualTo(16);
        assertThat(linear.runBlocks(3)).isEqualTo(13);
        assertThat(linear.runBlocks(24)).isEqualTo(24);
    }

    @ParameterizedTest
    @CsvSource({"RAID0, 4, 32", "RAID1, 4, 8", "RAID5, 4, 24", "RAID6, 4, 16", "RAID10, 4, 16",
            "RAID10, 5, 20", "LINEAR, 4, 32"})
    void shouldSizeVolumesByWhatRedundancyLeaves(Level level, int members, int chunks) {
        assertThat(layout(level, members, 8).volumeBlocks()).isEqualTo(8 * chunks);
    }

    @Test
    void shouldKnowWhichLossesItSurvives() {
        assertThat(survivors(layout(Level.RAID0, 2, 8))).hasToString("{0}");
        assertThat(survivors(layout(Level.RAID1, 2, 8))).hasToString("{0, 1, 2}");
        assertThat(survivors(layout(Level.RAID5, 3, 8))).hasToString("{0, 1, 2, 4}");
        assertThat(survivors(layout(Level.RAID6, 4, 8)).cardinality()).isEqualTo(1 + 4 + 6);
        assertThat(survivors(layout(Level.RAID10, 4, 8)).cardinality()).isEqualTo(3 * 3);
        assertThat(survivors(layout(Level.RAID10, 3, 8))).hasToString("{0, 1, 2, 4}");
    }

    private static BitSet survivors(Layout layout) {
        var survivors = new BitSet();
        for (int lost = 0; lost < 1 << layout.shape().members(); lost++) {
            survivors.set(lost, layout.survives(lost));
        }
        return survivors;
    }

    @Test
    void shouldRefuseWhatCannotBeAndSayWhatCan() {
        assertThatThrownBy(() -> Shape.of(Level.RAID5, 512, 8, 2, 80))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("RAID 5 takes at least 3 members, not 2: for two take RAID 1");
        assertThatThrownBy(() -> Shape.of(Level.RAID0, 512, 8, 65, 80))
                .hasMessageContaining("at most 64");
        assertThatThrownBy(() -> Shape.of(Level.RAID0, 512, 12, 2, 80))
                .hasMessageContaining("power of two");
        assertThatThrownBy(() -> Shape.of(Level.RAID0, 512, 8, 2, 7))
                .hasMessageContaining("smaller chunk");
        assertThatThrownBy(() -> Shape.of(Level.RAID0, 520, 8, 2, 80)).hasMessageContaining("512");
        assertThatThrownBy(() -> new Shape(Level.RAID0, 512, 8, List.of(80L, 88L)))
                .hasMessageContaining("one size");
        assertThat(Shape.fitting(Level.RAID5, 512, 8, List.of(90L, 80L, 100L)).memberBlocks())
                .containsExactly(80L, 80L, 80L);
        assertThat(Level.parse("5")).isEqualTo(Level.RAID5);
        assertThat(Level.parse("raid-10")).isEqualTo(Level.RAID10);
        assertThat(Level.parse("linear")).isEqualTo(Level.LINEAR);
        assertThatThrownBy(() -> Level.parse("7")).hasMessageContaining("no level '7'");
    }
}
