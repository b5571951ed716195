import javassist.*;

/** Writes a class whose method begins with another statement: CLASS METHOD STATEMENT FOLDER. */
public class ChangeMethod {
    public static void main(String[] arguments) throws Exception {
        CtClass changed = ClassPool.getDefault().get(arguments[0]);
        for (CtMethod method : changed.getDeclaredMethods(arguments[1])) method.insertBefore(arguments[2]);
        changed.writeFile(arguments[3]);
    }
}
