package lunar.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import lunar.bench.harness.Chart.Panel;
import lunar.bench.harness.Chart.Point;
import lunar.bench.harness.Chart.Series;
import lunar.bench.harness.Chart.Tick;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

class ChartTest {
    private static final Series SLOW = new Series("slow & steady", true, List.of(
            point(1, 400, 20), point(50, 410, 30), point(100, 800, 40)));
    private static final Series FAST = new Series("fast", true, List.of(
            point(1, 40, 3), point(50, 20, 2), point(100, 19, Double.POSITIVE_INFINITY)));

    private static Point point(double x, double mean, double halfWidth) {
        return new Point(x, new Estimate(9, mean, halfWidth));
    }

    private static Document chart(Series... series) throws Exception { return chart(2, series); }

    private static Document chart(int panels, Series... series) throws Exception {
        var panel = new Panel("Read <4 KiB>", "threads", 0, 100,
                List.of(new Tick(1, "1"), new Tick(100, "100")), List.of(series));
        String svg = new Chart("Figure \"4\"", "of a test", "ms",
                Collections.nCopies(panels, panel)).svg();
        return DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new InputSource(new StringReader(svg)));
    }

    private static List<Element> all(Document chart, String tag) {
        var nodes = chart.getElementsByTagName(tag);
        var found = new ArrayList<Element>();
        for (int i = 0; i < nodes.getLength(); i++) {
            found.add((Element) nodes.item(i));
        }
        return found;
    }

    private static List<Double> numbers(List<Element> elements, String attribute) {
        return elements.stream().map(one -> Double.valueOf(one.getAttribute(attribute))).toList();
    }

    @Test
    void shouldKeepTextAsText() throws Exception {
        assertThat(all(chart(FAST, SLOW), "text")).extracting(Element::getTextContent).contains(
                "Figure \"4\"", "of a test", "Read <4 KiB>", "threads", "ms", "1", "100", "fast",
                "slow & steady");
    }

    /** Circles are the first series, once in the legend and three times in each of the two panels. */
    @Test
    void shouldPlotAxesInAscendingOrder() throws Exception {
        List<Element> marks = all(chart(FAST, SLOW), "circle");

        assertThat(marks).hasSize(7);
        List<Element> first = marks.subList(0, 3);
        assertThat(numbers(first, "cy")).isSorted();
        assertThat(numbers(first, "cx")).isSorted().doesNotHaveDuplicates();
    }

    /** 40 is half way from 20 to 80 on such an axis, and 20 is at its foot. */
    @Test
    void shouldHaveALogarithmicAxis() throws Exception {
        List<Double> y = numbers(all(chart(new Series("one", false,
                List.of(point(1, 20, 0), point(2, 40, 0), point(3, 80, 0)))), "circle"), "cy");

        assertThat(y.get(1) - y.get(0)).isCloseTo(y.get(2) - y.get(1),
                org.assertj.core.data.Offset.offset(0.2));
    }

    @Test
    void shouldStayInsideWhateverTheInterval() throws Exception {
        Document chart = chart(FAST, SLOW);
        double height = Double.parseDouble(chart.getDocumentElement().getAttribute("height"));

        assertThat(numbers(all(chart, "circle"), "cy"))
                .allSatisfy(y -> assertThat(y).isBetween(0.0, height));
        assertThat(all(chart, "path")).extracting(one -> one.getAttribute("d"))
                .allSatisfy(path -> assertThat(path).doesNotContain("NaN").doesNotContain("-I"));
    }

    @Test
    void shouldLeadALineThroughPointsOnlyWhereAsked() throws Exception {
        int with = all(chart(FAST), "path").size();
        int without = all(chart(new Series("fast", false, FAST.points())), "path").size();

        assertThat(with - without).isEqualTo(2); // one in each panel
    }

    @Test
    void shouldBeginARowAfterThreePanels() throws Exception {
        Document three = chart(3, FAST);
        Document five = chart(5, FAST);

        assertThat(five.getDocumentElement().getAttribute("width"))
                .isEqualTo(three.getDocumentElement().getAttribute("width"));
        assertThat(all(three, "g")).extracting(one -> one.getAttribute("transform"))
                .containsOnly("translate(0 0)");
        assertThat(all(five, "g")).extracting(one -> one.getAttribute("transform")).containsExactly(
                "translate(0 0)", "translate(0 0)", "translate(0 0)", "translate(0 410)",
                "translate(0 410)");
    }
}
