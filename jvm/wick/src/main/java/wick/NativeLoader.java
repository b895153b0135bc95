package wick;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Finds and loads the native library, once a class loader: the path of {@value #PATH_PROPERTY}, then
 * {@code java.library.path}, then the copy inside the jar. Nothing is ever fetched from a network.
 */
final class NativeLoader {
  /** The version of the library that this class belongs to; the native side compares it with its own. */
  static final String VERSION = "0.1.0";

  /** The system property that names the library's file, or the folder that it lies in. */
  static final String PATH_PROPERTY = "wick.library.path";

  private static final String NAME = "wick";

  private static final String IN_ANOTHER_LOADER = "already loaded in another classloader";

  /** What was tried and why it failed, one line each, for the message. */
  private final List<String> failures = new ArrayList<>();

  /** The file that was loaded, or null before. */
  static volatile String loadedFrom;

  private NativeLoader() {}

  /** Loads the library, or says in an {@link UnsatisfiedLinkError} all that was tried. */
  static synchronized void load() {
    if (loadedFrom != null) return;
    loadedFrom = new NativeLoader().find();
  }

  /** What the class initialiser throws where a library was loaded and is not this version's. */
  static synchronized UnsatisfiedLinkError notOurs(Throwable cause) {
    UnsatisfiedLinkError error =
        new UnsatisfiedLinkError(
            loadedFrom
                + " was loaded, but is not wick's native library of version "
                + VERSION
                + " ("
                + cause.getMessage()
                + "). Remove it, or set -D"
                + PATH_PROPERTY
                + " to the file or folder of the right one.");
    error.initCause(cause);
    return error;
  }

  private String find() {
    String given = System.getProperty(PATH_PROPERTY, "");
    if (!given.isEmpty()) {
      // What was asked for by name is used or refused: a silent other copy would mislead.
      Path path = Paths.get(given).toAbsolutePath();
      if (Files.isDirectory(path)) path = path.resolve(fileName());
      if (loadFile(path, "-D" + PATH_PROPERTY)) return path.toString();
      throw failure();
    }
    String platform = platform();
    if (platform == null) {
      failures.add("no build of the library is made for this operating system and processor");
      throw failure();
    }
    String installed = loadInstalled();
    return installed != null ? installed : loadBundled(platform);
  }

  private String loadInstalled() {
    try {
      System.loadLibrary(NAME);
      return "java.library.path";
    } catch (UnsatisfiedLinkError e) {
      int before = failures.size();
      for (String folder : System.getProperty("java.library.path", "").split(File.pathSeparator)) {
        Path path = Paths.get(folder.isEmpty() ? "." : folder, fileName()).toAbsolutePath();
        // Only a file that is there has a reason worth telling; it may be taken by another loader.
        if (Files.exists(path) && loadFile(path, "java.library.path")) return path.toString();
      }
      if (failures.size() == before) failures.add("java.library.path: " + e.getMessage());
      return null;
    } catch (IllegalCallerException e) {
      throw denied(e);
    }
  }

  private String loadBundled(String platform) {
    String resource = "/native/" + platform + "/" + fileName();
    byte[] bytes;
    // This class's own loader, not the thread's: the jar may be in a child loader alone.
    try (InputStream in = NativeLoader.class.getResourceAsStream(resource)) {
      if (in == null) {
        failures.add("the jar's copy: there is no " + resource + " beside " + NativeLoader.class.getName());
        throw failure();
      }
      bytes = in.readAllBytes();
    } catch (IOException e) {
      failures.add("the jar's copy: " + resource + " cannot be read: " + reason(e));
      throw failure();
    }
    for (Path folder : folders()) {
      Path path = folder.resolve(NAME + "-" + hash(bytes) + suffix());
      try {
        unpack(bytes, folder, path);
      } catch (IOException | RuntimeException e) {
        failures.add(path + ": cannot be written: " + reason(e));
        continue;
      }
      if (loadFile(path, "the jar's copy")) return path.toString();
    }
    throw failure();
  }

  /** Loads one file; where another class loader of this JVM has it already, a copy of it. */
  private boolean loadFile(Path path, String source) {
    if (!Files.exists(path)) {
      failures.add(source + ": " + path + ": no such file");
      return false;
    }
    try {
      System.load(path.toString());
      return true;
    } catch (UnsatisfiedLinkError e) {
      String message = String.valueOf(e.getMessage());
      if (message.contains(IN_ANOTHER_LOADER)) return loadCopy(path, source);
      // The JVM and the dynamic linker each put the path in front of what they say.
      String cause = message.replace(path + ": ", "");
      if (cause.contains("failed to map")) cause += " (is the folder mounted noexec?)";
      failures.add(source + ": " + path + ": " + cause);
      return false;
    } catch (IllegalCallerException e) {
      throw denied(e);
    }
  }

  private boolean loadCopy(Path original, String source) {
    for (Path folder : folders()) {
      Path copy = null;
      try {
        makePrivate(folder);
        copy = Files.createTempFile(folder, NAME + "-", suffix());
        Files.copy(original, copy, StandardCopyOption.REPLACE_EXISTING);
        System.load(copy.toString());
        return true;
      } catch (UnsatisfiedLinkError | IOException | RuntimeException e) {
        if (e instanceof IllegalCallerException) throw denied((IllegalCallerException) e);
        failures.add(source + ", copied for a second class loader: " + folder + ": " + reason(e));
      } finally {
        remove(copy);
      }
    }
    return false;
  }

  /** A loaded file's name can go at once on Unix: the mapping stays. Elsewhere it goes at exit. */
  private static void remove(Path copy) {
    if (copy == null) return;
    try {
      Files.deleteIfExists(copy);
    } catch (IOException e) {
      copy.toFile().deleteOnExit();
    }
  }

  /** Makes sure that {@code path} holds {@code bytes}; other JVMs may be doing the same. */
  private static void unpack(byte[] bytes, Path folder, Path path) throws IOException {
    makePrivate(folder);
    if (holds(path, bytes)) return;
    Path temporary = Files.createTempFile(folder, NAME + "-", ".tmp");
    try {
      Files.write(temporary, bytes);
      // A JVM that has mapped the replaced file keeps that one: the name moves, not the content.
      Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      // Windows refuses to replace a file that is in use; then another JVM has just written it.
      if (!holds(path, bytes)) throw e;
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  private static boolean holds(Path path, byte[] bytes) throws IOException {
    try {
      return Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)
          && Files.size(path) == bytes.length
          && Arrays.equals(Files.readAllBytes(path), bytes);
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** Makes the folder; one that others may write into could have its files swapped before the load. */
  private static void makePrivate(Path folder) throws IOException {
    boolean posix = folder.getFileSystem().supportedFileAttributeViews().contains("posix");
    Files.createDirectories(folder.getParent());
    try {
      if (posix) {
        Set<PosixFilePermission> own = PosixFilePermissions.fromString("rwx------");
        Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(own));
      } else {
        Files.createDirectory(folder);
      }
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) throw e;
    }
    if (!posix) return;
    Set<PosixFilePermission> now = Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS);
    if (now.contains(PosixFilePermission.GROUP_WRITE) || now.contains(PosixFilePermission.OTHERS_WRITE)) {
      throw new IOException("others may write into " + folder);
    }
    Path probe = Files.createTempFile(folder, NAME + "-", ".tmp");
    try {
      if (!Files.getOwner(probe).equals(Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS))) {
        throw new IOException(folder + " belongs to another user");
      }
    } finally {
      Files.delete(probe);
    }
  }

  /** The temp folder, and the user's cache folder for where the first is full, read-only or noexec. */
  private static List<Path> folders() {
    List<Path> folders = new ArrayList<>();
    String user = System.getProperty("user.name", "user").replaceAll("[^A-Za-z0-9._-]", "_");
    folders.add(Paths.get(System.getProperty("java.io.tmpdir", "/tmp")).toAbsolutePath().resolve(NAME + "-" + user));
    String cache = System.getenv("XDG_CACHE_HOME");
    if (cache == null || cache.isEmpty()) {
      cache = Paths.get(System.getProperty("user.home", "."), ".cache").toString();
    }
    folders.add(Paths.get(cache).toAbsolutePath().resolve(NAME));
    return folders;
  }

  private static String hash(byte[] bytes) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < 16; i++) text.append(String.format("%02x", digest[i]));
      return text.toString();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java platform has SHA-256
    }
  }

  private static String fileName() {
    return System.mapLibraryName(NAME);
  }

  private static String suffix() {
    String name = fileName();
    return name.substring(name.lastIndexOf('.'));
  }

  /** The folder of the jar that fits this machine, or null where no build is made for it. */
  static String platform() {
    String os = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
    if (arch.equals("amd64") || arch.equals("x86_64")) arch = "x86_64";
    else if (arch.equals("aarch64") || arch.equals("arm64")) arch = "aarch64";
    else return null;
    if (os.startsWith("linux")) return (isMusl() ? "linux-musl-" : "linux-") + arch;
    if (os.startsWith("mac")) return "macos-" + arch;
    if (os.startsWith("windows") && arch.equals("x86_64")) return "windows-" + arch;
    return null;
  }

  private static boolean isMusl() {
    // A glibc machine may have musl installed beside it: what this process runs on decides.
    try {
      byte[] maps = Files.readAllBytes(Paths.get("/proc/self/maps"));
      String text = new String(maps, StandardCharsets.ISO_8859_1);
      if (text.contains("/ld-musl-")) return true;
      if (text.contains("/ld-linux") || text.contains("/libc.so.6")) return false;
    } catch (IOException | RuntimeException e) {
      // no /proc here: look at what is installed
    }
    try (DirectoryStream<Path> found = Files.newDirectoryStream(Paths.get("/lib"), "ld-musl-*")) {
      return found.iterator().hasNext();
    } catch (IOException e) {
      return false;
    }
  }

  private UnsatisfiedLinkError failure() {
    StringBuilder text = new StringBuilder("wick's native library could not be loaded on ");
    text.append(System.getProperty("os.name")).append(' ').append(System.getProperty("os.arch"));
    if (platform() != null) text.append(" (").append(platform()).append(')');
    text.append(", Java ").append(System.getProperty("java.version")).append(". Tried:");
    for (String line : failures) text.append("\n  ").append(line);
    text.append("\nSet -D").append(PATH_PROPERTY).append(" to the file ").append(fileName());
    text.append(" built for this machine, or to its folder");
    if (System.getProperty(PATH_PROPERTY, "").isEmpty()) {
      text.append("; or -Djava.io.tmpdir or XDG_CACHE_HOME to a folder that can be written to");
      text.append(" and from which libraries may be loaded (not mounted noexec)");
    }
    return new UnsatisfiedLinkError(text.append('.').toString());
  }

  private static UnsatisfiedLinkError denied(IllegalCallerException cause) {
    UnsatisfiedLinkError error =
        new UnsatisfiedLinkError(
            "This JVM was told to deny native access ("
                + cause.getMessage()
                + "): start it with --enable-native-access=ALL-UNNAMED to allow wick's native library.");
    error.initCause(cause);
    return error;
  }

  private static String reason(Throwable e) {
    String name = e.getClass().getSimpleName();
    return e.getMessage() == null ? name : name + ": " + e.getMessage();
  }
}
