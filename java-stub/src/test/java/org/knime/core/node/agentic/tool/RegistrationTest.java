package org.knime.core.node.agentic.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.ParameterizedType;
import java.nio.file.Path;
import java.util.Arrays;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.knime.core.data.DataCell;
import org.knime.core.data.DataCellSerializer;
import org.knime.core.data.v2.ValueFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** What KNIME demands of a registered data type, as far as it can be told without KNIME. */
class RegistrationTest {

    private static Element plugin() throws Exception {
        final var file = Path.of(System.getProperty("basedir"), "plugin.xml").toFile();
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file).getDocumentElement();
    }

    private static Element only(final NodeList found) {
        assertEquals(1, found.getLength());
        return (Element)found.item(0);
    }

    @Test
    void toolsAreRegisteredWithOneCellClassOneSerializerAndOneValueFactory() throws Exception {
        final var extension = only(plugin().getElementsByTagName("extension"));
        assertEquals("org.knime.core.DataType", extension.getAttribute("point"));
        final var type = only(extension.getElementsByTagName("DataType"));
        assertEquals(ToolCell.class.getName(), type.getAttribute("cellClass"));
        final var factory = only(type.getElementsByTagName("ValueFactory"));
        assertEquals(ToolValueFactory.class.getName(), factory.getAttribute("valueFactoryClass"));
        assertEquals("false", factory.getAttribute("deprecated"));
        assertEquals(ToolCell.class.getName(), only(type.getElementsByTagName("serializer")).getAttribute("cellClass"));
    }

    @Test
    void everyRegisteredClassCanBeMadeAsKNIMEMakesIt() throws Exception {
        final var type = only(plugin().getElementsByTagName("DataType"));
        assertTrue(DataCell.class.isAssignableFrom(Class.forName(type.getAttribute("cellClass"))));
        make(only(type.getElementsByTagName("serializer")).getAttribute("serializerClass"), DataCellSerializer.class);
        make(only(type.getElementsByTagName("ValueFactory")).getAttribute("valueFactoryClass"), ValueFactory.class);
    }

    private static void make(final String name, final Class<?> kind) throws Exception {
        assertTrue(kind.isInstance(Class.forName(name).getConstructor().newInstance()), name);
    }

    @Test
    void theSerializerNamesItsCellClassInItsType() {
        // KNIME finds out by that for which cells it is.
        final var types = Arrays.stream(ToolCell.ToolCellSerializer.class.getGenericInterfaces())
            .map(ParameterizedType.class::cast).toList();
        assertEquals(1, types.size());
        assertEquals(ToolCell.class, types.get(0).getActualTypeArguments()[0]);
    }

    @Test
    void aColumnOfToolsOffersTheValuesOfBothKindsAndPrefersTheCommonOne() {
        assertTrue(ToolCell.TYPE.isCompatible(ToolValue.class));
        assertTrue(ToolCell.TYPE.isCompatible(WorkflowToolValue.class));
        assertTrue(ToolCell.TYPE.isCompatible(MCPToolValue.class));
        assertEquals(ToolValue.class, ToolCell.class.getInterfaces()[0]);
    }
}
