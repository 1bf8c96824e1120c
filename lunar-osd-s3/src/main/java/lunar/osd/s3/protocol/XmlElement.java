package lunar.osd.s3.protocol;

import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * An element of a document that a client has sent. Attributes and namespaces are ignored; document type declarations
 * and entities are refused, so that no document expands.
 *
 * @param name local name
 * @param text text between its children
 * @param children elements in it
 */
public record XmlElement(String name, String text, List<XmlElement> children) {
    private static final int MAX_DEPTH = 8;
    /** More than 10,000 parts with a number, an ETag and several checksums have. */
    private static final int MAX_ELEMENTS = 100_000;

    public XmlElement {
        children = List.copyOf(children);
    }

    /**
     * Parses a document and checks the name of its root.
     *
     * @throws S3Exception with MalformedXML
     */
    public static XmlElement parse(byte[] document, String root) throws S3Exception {
        try {
            var factory = XMLInputFactory.newDefaultFactory();
            factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
            factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
            factory.setProperty(XMLInputFactory.IS_REPLACING_ENTITY_REFERENCES, false);
            XMLStreamReader reader = factory
                    .createXMLStreamReader(new ByteArrayInputStream(document), "UTF-8");
            XmlElement element = new Parser(reader).document();
            if (element.name().equals(root)) {
                return element;
            }
        } catch (XMLStreamException _) {
            // refused below, like a wrong root
        }
        throw new S3Exception(S3Error.MALFORMED_XML);
    }

    /** Returns the children of a name. */
    public List<XmlElement> all(String child) {
        return children.stream().filter(each -> each.name().equals(child)).toList();
    }

    /** Returns the text of the first child of a name; empty if there is none. */
    public Optional<String> textOf(String child) {
        return children.stream().filter(each -> each.name().equals(child)).findFirst()
                .map(XmlElement::text);
    }

    private static final class Parser {
        private final XMLStreamReader reader;
        private int count;

        Parser(XMLStreamReader reader) { this.reader = reader; }

        XmlElement document() throws XMLStreamException {
            while (reader.hasNext()) {
                int event = reader.next();
                if (event == XMLStreamConstants.START_ELEMENT) {
                    return element(1);
                }
                if (event == XMLStreamConstants.DTD) {
                    break;
                }
            }
            throw new XMLStreamException("no element");
        }

        private XmlElement element(int depth) throws XMLStreamException {
            if (depth > MAX_DEPTH || ++count > MAX_ELEMENTS) {
                throw new XMLStreamException("too many elements");
            }
            String name = reader.getLocalName();
            var text = new StringBuilder();
            var children = new ArrayList<XmlElement>();
            while (true) {
                switch (reader.next()) {
                    case XMLStreamConstants.START_ELEMENT -> children.add(element(depth + 1));
                    case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA,
                            XMLStreamConstants.SPACE ->
                        text.append(reader.getText());
                    case XMLStreamConstants.END_ELEMENT -> {
                        return new XmlElement(name, text.toString(), children);
                    }
                    case XMLStreamConstants.COMMENT,
                            XMLStreamConstants.PROCESSING_INSTRUCTION ->
                        {
                        }
                    default -> throw new XMLStreamException("entities are not supported");
                }
            }
        }
    }
}
